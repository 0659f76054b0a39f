using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Messaging;

namespace Billing.Simulation.Store;

/// <summary>The event store as one process sees it.</summary>
internal sealed class StoreClient(Node node, StoreServer server) : IAccountStore
{
    public string Name => server.Name;

    /// <summary>What a process knows of where the shards are.</summary>
    public static ShardMap MapOf(Node node, IReadOnlyList<StoreServer> databases) =>
        new([.. databases.Select(database => new StoreClient(node, database))], node.Time);

    public Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken) =>
        AskAsync(new StoreRequest(Writes: false), statements => statements.Held());

    public async Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken)
    {
        var (accounts, hasNewer) = await AskAsync(
            new StoreRequest(Writes: false) { Streams = streamIds }, statements => (
                statements.Load(streamIds, opened), node.IsOlder
                    && streamIds.SelectMany(statements.Stream).Any(stored => stored.Fact is CreditLimitChanged)));
        return hasNewer ? throw new UnknownEventTypeException("credit_limit_changed") : accounts;
    }

    public Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken)
    {
        var request = new StoreRequest(Writes: fence.Partitions.Count > 0)
        {
            Receipts = fence.Partitions.Count > 0 ? [] : commands,
            Held = [.. fence.Select(o => o.Partition)],
            KeepsShards = true,
        };
        return AskAsync(request, statements => statements.Find(commands, fence));
    }

    public Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions,
        Fence fence, CancellationToken cancellationToken)
    {
        var request = new StoreRequest(Writes: true)
        {
            Streams = [.. versions.Keys],
            Held = [.. fence.Select(o => o.Partition)],
            KeepsShards = true,
        };
        return AskAsync(request, statements => statements.Confirm(commands, versions, fence));
    }

    public Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken) => AskAsync(
            new StoreRequest(Writes: false) { Streams = [.. payments.Select(id => id.StreamId)], KeepsShards = true },
            statements => statements.LastFollowUps(payments));

    public Task<IReadOnlyList<CommandId>> TakeDueHoldsAsync(
        DateTimeOffset now, int limit, CancellationToken cancellationToken) =>
        AskAsync(new StoreRequest(Writes: true), statements => statements.TakeDueHolds(now, limit, server.Time));

    public Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence, CancellationToken cancellationToken)
    {
        CommandId[] ids = [.. commands.Select(command => command.Id)];
        var request = new StoreRequest(
            Writes: true)
        { Receipts = ids, Held = [.. fence.Select(o => o.Partition)], KeepsShards = true };
        return AskAsync(request, statements => statements.Close(ids, fence, server.Now));
    }

    public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, Guid owner, CancellationToken cancellationToken) => AskAsync(
            new StoreRequest(Writes: true) { Begun = [.. owned.Select(o => o.Partition)] },
            statements => statements.Begin(owned, owner));

    public Task AppendAsync(IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken)
    {
        var request = new StoreRequest(Writes: true)
        {
            Streams = [.. batch.Select(e => e.Recorded.StreamId)],
            Receipts = [.. batch.Select(e => e.Id)],
            Held = [.. fence.Select(o => o.Partition)],
            KeepsShards = true,
        };
        return AskAsync(request, statements => statements.Append(batch, fence, server.Now, node.OpeningLimits));
    }

    public Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken) =>
        AskAsync(new StoreRequest(Writes: false), statements => statements.List(after, limit));

    private Task<T> AskAsync<T>(StoreRequest request, Func<Statements, T> work) =>
        server.AskAsync(node, request, _ => work(server.Statements));
}
