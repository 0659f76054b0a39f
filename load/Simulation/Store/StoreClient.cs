using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Messaging;

namespace Billing.Simulation.Store;

/// <summary>The event store as one process sees it.</summary>
internal sealed class StoreClient(Node node, StoreServer server) : IAccountStore
{
    public string Name => "simulated";

    /// <summary>What a process knows of where the shards are.</summary>
    public static ShardMap MapOf(Node node, IReadOnlyList<StoreServer> databases) =>
        new([.. databases.Select(database => new StoreClient(node, database))], node.Time);

    public Task<T> UseAsync<T>(Func<CancellationToken, Task<T>> use, CancellationToken cancellationToken) => use(cancellationToken);

    public Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken) =>
        server.AskAsync(node, new StoreRequest(Writes: false), server.Held);

    public async Task<Dictionary<string, Account>> LoadAsync(string[] streamIds, Account opened, CancellationToken cancellationToken)
    {
        var (accounts, hasNewer) = await server.AskAsync(
            node, new StoreRequest(Writes: false) { Streams = streamIds },
            () => (server.Load(streamIds, opened), streamIds.SelectMany(server.Stream).Any(stored => stored.Fact is CreditLimitChanged)));
        return node.IsOlder && hasNewer ? throw new UnknownEventTypeException("credit_limit_changed") : accounts;
    }

    public Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken) => server.AskAsync(
            node,
            new StoreRequest(Writes: fence.Partitions.Count > 0)
            {
                Receipts = fence.Partitions.Count > 0 ? [] : commands,
                Held = [.. fence.Select(o => o.Partition)],
            },
            () => server.Find(commands, fence));

    public Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions, Fence fence, CancellationToken cancellationToken) =>
        server.AskAsync(
            node, new StoreRequest(Writes: true) { Streams = [.. versions.Keys], Held = [.. fence.Select(o => o.Partition)] },
            () => server.Confirm(commands, versions, fence));

    public Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken) =>
        server.AskAsync(node, new StoreRequest(Writes: false) { Streams = [.. payments.Select(id => id.StreamId)] }, () => server.LastFollowUps(payments));

    public Task<IReadOnlyList<DueHold>> TakeDueHoldsAsync(DateTimeOffset now, int limit, CancellationToken cancellationToken) =>
        server.AskAsync(node, new StoreRequest(Writes: true), () => server.TakeDueHolds(now, limit));

    public Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence, CancellationToken cancellationToken) => server.AskAsync(
            node, new StoreRequest(Writes: true) { Receipts = [.. commands.Select(c => c.Id)], Held = [.. fence.Select(o => o.Partition)] },
            () => server.Close([.. commands.Select(c => c.Id)], fence));

    public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, CancellationToken cancellationToken) => server.AskAsync(
            node, new StoreRequest(Writes: true) { Begun = [.. owned.Select(o => o.Partition)] }, () => server.Begin(owned));

    public Task AppendAsync(IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken)
    {
        var request = new StoreRequest(Writes: true)
        {
            Streams = [.. batch.Select(e => e.Recorded.StreamId)],
            Receipts = [.. batch.Select(e => e.Id).OfType<CommandId>()],
            Held = [.. fence.Select(o => o.Partition)],
        };
        return server.AskAsync(node, request, () => server.Append(batch, fence));
    }

    public Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken) =>
        server.AskAsync(node, new StoreRequest(Writes: false), () => server.List(after, limit));
}
