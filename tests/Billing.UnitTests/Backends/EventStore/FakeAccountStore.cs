using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Npgsql;

namespace Billing.UnitTests.Backends.EventStore;

/// <summary>An event store in memory that fails or waits as configured.</summary>
internal sealed class FakeAccountStore : IAccountStore
{
    public string Name => "one";

    public List<NewEvent> Appended { get; } = [];

    public Dictionary<CommandId, Wire.V1.Event> Receipts { get; } = [];

    /// <summary>Returns the error with which a batch is not stored; null if it is stored.</summary>
    public Func<IReadOnlyList<NewEvent>, Exception?> Fails { get; set; } = _ => null;

    /// <summary>Returns the error that is thrown after a batch was stored; null for none.</summary>
    public Func<Exception?> FailsAfter { get; set; } = () => null;

    /// <summary>Returns the error with which accounts cannot be read; null if they can.</summary>
    public Func<string[], Exception?> Loading { get; set; } = _ => null;

    /// <summary>Accounts that are stored without events.</summary>
    public Dictionary<string, Account> Accounts { get; } = new(StringComparer.Ordinal);

    /// <summary>What a read of accounts waits for after they were read.</summary>
    public Func<Task> Answering { get; set; } = () => Task.CompletedTask;

    /// <summary>The shards that this database holds.</summary>
    public Dictionary<int, long> Shards { get; } = Enumerable.Range(0, Shard.Count)
        .ToDictionary(shard => shard, _ => 1L);

    /// <summary>Called when it is asked for its shards.</summary>
    public Action ShardsAsked { get; set; } = () => { };

    /// <summary>What an answer about its shards waits for.</summary>
    public Func<Task> TellingShards { get; set; } = () => Task.CompletedTask;

    public async Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken)
    {
        ShardsAsked();
        var held = new Dictionary<int, long>(Shards);
        await TellingShards().WaitAsync(cancellationToken);
        return held;
    }

    public async Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken)
    {
        if (Loading(streamIds) is { } failure)
        {
            throw failure;
        }
        var accounts = streamIds.ToDictionary(
            id => id,
            id => Appended.Where(e => e.Recorded.StreamId == id).Select(e => e.After)
                .LastOrDefault(Accounts.GetValueOrDefault(id, opened)),
            StringComparer.Ordinal);
        await Answering().WaitAsync(cancellationToken);
        return accounts;
    }

    public Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken) =>
        Task.FromResult<string[]>(
            [
                .. Accounts.Keys.Where(id => string.CompareOrdinal(id, after) > 0).Order(StringComparer.Ordinal)
                    .Take(limit),
            ]);

    /// <summary>What a search for receipts waits for, with the ids that are searched for.</summary>
    public Func<IReadOnlyCollection<CommandId>, Task> Searching { get; set; } = _ => Task.CompletedTask;

    public async Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken)
    {
        await Searching(commands).WaitAsync(cancellationToken);
        return Refusal(commands.Select(id => id.StreamId), fence) is { } refusal ? throw refusal
            : commands.Distinct().Where(Receipts.ContainsKey).ToDictionary(id => id, id => Receipts[id]);
    }

    public async Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions,
        Fence fence, CancellationToken cancellationToken)
    {
        var found = await FindReceiptsAsync(commands, fence, cancellationToken);
        var accounts = await LoadAsync([.. versions.Keys], Limits.Opened(0), cancellationToken);
        return versions.Any(known => accounts[known.Key].Version != known.Value)
            ? throw new PostgresException("moved", "ERROR", "ERROR", StoredFunction.StreamMoved)
            : found;
    }

    public Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken) => Task.FromResult(
            payments.Select(
                id => (Id: id, Last: Appended.Where(e => e.Recorded.StreamId == id.StreamId).Select(e => e.Fact)
                        .OfType<PaymentFollowUp>().LastOrDefault(fact => fact.PaymentId == id.TransactionId)))
                .Where(found => found.Last is not null).ToDictionary(found => found.Id, found => found.Last!));

    /// <summary>What is on hold and due; whatever is asked for it takes it.</summary>
    public List<CommandId> DueHolds { get; } = [];

    /// <summary>Returns the error with which due holds cannot be read; null if they can.</summary>
    public Func<Exception?> TakingHolds { get; set; } = () => null;

    public Task<IReadOnlyList<CommandId>> TakeDueHoldsAsync(
        DateTimeOffset now, int limit, CancellationToken cancellationToken)
    {
        if (TakingHolds() is { } failure)
        {
            return Task.FromException<IReadOnlyList<CommandId>>(failure);
        }
        var taken = DueHolds.Take(limit).ToList();
        DueHolds.RemoveRange(0, taken.Count);
        return Task.FromResult<IReadOnlyList<CommandId>>(taken);
    }

    public Dictionary<SourcePartition, long> Epochs { get; } = [];

    private readonly HashSet<(SourcePartition, long Epoch, Guid Owner)> _begun = [];

    /// <summary>Called when an epoch has begun; returns the failure of the connection.</summary>
    public Func<Exception?> EpochBreaks { get; set; } = () => null;

    /// <summary>Called when an epoch begins.</summary>
    public Action EpochBegins { get; set; } = () => { };

    public Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence, CancellationToken cancellationToken)
    {
        if (Refusal(commands.Select(c => c.Id.StreamId), fence) is { } refusal)
        {
            return Task.FromException<Dictionary<CommandId, Wire.V1.Event>>(refusal);
        }
        foreach (var (id, _) in commands)
        {
            Receipts.TryAdd(id, new Wire.V1.Event());
        }
        return Task.FromResult(commands.ToDictionary(c => c.Id, c => Receipts[c.Id]));
    }

    public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, Guid owner, CancellationToken cancellationToken)
    {
        EpochBegins();
        var begun = owned.Where(
            o => o.Epoch == 0 || IsPresent(o) || _begun.Contains((o.Partition, Epochs[o.Partition], owner)))
            .Select(o => o.Partition).ToList();
        begun.ForEach(p => _begun.Add((p, Epochs[p] = Epochs.GetValueOrDefault(p) + 1, owner)));
        if (EpochBreaks() is { } broken)
        {
            return Task.FromException<Dictionary<SourcePartition, long>>(broken);
        }
        return Task.FromResult(begun.ToDictionary(p => p, p => Epochs[p]));
    }

    public Task AppendAsync(IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken)
    {
        if (Refusal(batch.Select(e => e.Recorded.StreamId), fence) is { } refusal)
        {
            return Task.FromException(refusal);
        }
        if (Fails(batch) is { } failure)
        {
            return Task.FromException(failure);
        }
        Add(batch);
        return FailsAfter() is { } broken ? Task.FromException(broken) : Task.CompletedTask;
    }

    public void Add(IReadOnlyList<NewEvent> batch)
    {
        Appended.AddRange(batch);
        foreach (var added in batch)
        {
            Receipts.Add(added.Id, added.Recorded);
        }
    }

    /// <summary>What a database says that does not hold some shards.</summary>
    public static PostgresException ShardsElsewhere(IEnumerable<int> shards) =>
        new("elsewhere: " + string.Join(',', shards), "ERROR", "ERROR", StoredFunction.ShardElsewhere);

    private static PostgresException EpochEnded() => new("later owner", "ERROR", "ERROR", StoredFunction.EpochEnded);

    private PostgresException? Refusal(IEnumerable<string> streamIds, Fence fence) =>
        Shard.Of(streamIds).Where(shard => !Shards.TryGetValue(shard, out var epoch)
            || (fence.EpochOf(shard) is not 0 and var wanted && wanted != epoch))
            .ToList() is { Count: > 0 } elsewhere ? ShardsElsewhere(elsewhere)
        : fence.All(IsPresent) ? null
        : EpochEnded();

    private bool IsPresent(PartitionEpoch owned) => Epochs.GetValueOrDefault(owned.Partition) == owned.Epoch;
}
