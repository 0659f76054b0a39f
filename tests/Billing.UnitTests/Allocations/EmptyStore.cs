using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging;

namespace Billing.UnitTests.Allocations;

/// <summary>An event store that keeps nothing.</summary>
internal sealed class EmptyStore : IAccountStore
{
    public string Name => "one";

    /// <summary>What a search for receipts waits for.</summary>
    public Task Searching { get; init; } = Task.CompletedTask;

    private static readonly Task<Dictionary<CommandId, Wire.V1.Event>> Nothing = Task.FromResult(
        new Dictionary<CommandId, Wire.V1.Event>());

    public Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyDictionary<int, long>>(
            Enumerable.Range(0, Shard.Count).ToDictionary(shard => shard, _ => 1L));

    public Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken) =>
        Task.FromResult(streamIds.ToDictionary(id => id, _ => opened, StringComparer.Ordinal));

    public Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken) =>
        Task.FromResult(new Dictionary<CommandId, PaymentFollowUp>());

    public Task<IReadOnlyList<CommandId>> TakeDueHoldsAsync(
        DateTimeOffset now, int limit, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<CommandId>>([]);

    public Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken) =>
        Task.FromResult<string[]>([]);

    public Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken) =>
        Searching.IsCompleted ? Nothing : FindLaterAsync(cancellationToken);

    public Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions, Fence fence,
        CancellationToken cancellationToken) => Nothing;

    public Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence,
        CancellationToken cancellationToken) => Nothing;

    public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, Guid owner, CancellationToken cancellationToken) =>
        Task.FromResult(owned.ToDictionary(o => o.Partition, _ => 1L));

    public Task AppendAsync(IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken) =>
        Task.CompletedTask;

    private async Task<Dictionary<CommandId, Wire.V1.Event>> FindLaterAsync(CancellationToken cancellationToken)
    {
        await Searching.WaitAsync(cancellationToken);
        return await Nothing;
    }
}
