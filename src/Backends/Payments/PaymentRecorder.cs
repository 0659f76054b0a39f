using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Payments.InFlight;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.Hosting.Telemetry;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>Decides a batch of commands and stores their events in one transaction. Afterwards every command
/// of the batch has its result, or is one of <see cref="NotRecordable"/>. Not thread-safe:
/// one call at a time.</summary>
internal sealed partial class PaymentRecorder(
    IAccountStore store, Ownership ownership, EventStoreRetry retry, IOptions<BackendOptions> options,
    TimeProvider time, ILogger<PaymentRecorder> logger)
{
    private readonly AccountCache _cache = new(options.Value.CachedAccountsMax);
    private readonly Account _opened = options.Value.OpenedAccount();
    private readonly EventStoreRetry.Retries _retry = retry.Together(EventStoreFailure.IsRetryable, (e, attempt) =>
    {
        BackendMetrics.Retried(store.Name);
        Retrying(logger, store.Name, attempt, e.GetBaseException().Message);
    });

    private int _cached;

    /// <summary>The commands of the last call that the event store cannot record at present, although it can record
    /// others; each with the later commands of its account.</summary>
    public List<PendingCommand> NotRecordable { get; } = [];

    /// <summary>Why the tables refuse some of those; null if something else keeps them from being recorded.</summary>
    public string? Refusal { get; private set; }

    /// <summary>Gives each command its result, or abandons it if its partition has another owner, however long the
    /// event store is unavailable.</summary>
    /// <exception cref="OperationCanceledException">The token was cancelled;
    /// commands without a result may or may not be recorded.</exception>
    public async Task RecordAsync(IReadOnlyList<PendingCommand> batch, CancellationToken cancellationToken)
    {
        using var span = Tracing.StartJoint("record", batch.Select(c => c.Processing));
        span?.SetTag("billing.batch.size", batch.Count);
        var since = BackendMetrics.Now;
        _retry.Begin();
        NotRecordable.Clear();
        Refusal = null;
        await RecordTogetherAsync(batch, cancellationToken);
        BackendMetrics.Recorded(store.Name, batch.Count, since);
        NoteCached();
    }

    private async Task RecordTogetherAsync(IReadOnlyList<PendingCommand> batch, CancellationToken cancellationToken)
    {
        try
        {
            await RecordWithRetriesAsync(batch, cancellationToken);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && batch.Count > 1)
        {
            // One of them is at fault. It is found by halving, so that it cannot fail the others.
            BatchFailed(e, batch.Count);
            foreach (var half in batch.Where(c => !c.IsDone).Chunk((batch.Count + 1) / 2))
            {
                await RecordTogetherAsync(WithoutThoseThatWait(half.Where(c => !c.IsDone)), cancellationToken);
            }
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && EventStoreFailure.IsRetryable(e))
        {
            CommandNotRecordable(e, batch[0].Id.TransactionId, batch[0].StreamId);
            NotRecordable.Add(batch[0]);
            Refusal = EventStoreFailure.RefusalOf(e) ?? Refusal;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            CommandFailed(e, batch[0].Id.TransactionId, batch[0].StreamId);
            batch[0].Reject(e.Message);
        }
    }

    // Commands of an account are recorded in their order.
    private List<PendingCommand> WithoutThoseThatWait(IEnumerable<PendingCommand> batch)
    {
        var recordable = new List<PendingCommand>();
        foreach (var command in batch)
        {
            (NotRecordable.Exists(c => c.StreamId == command.StreamId) ? NotRecordable : recordable).Add(command);
        }
        return recordable;
    }

    private async Task RecordWithRetriesAsync(IReadOnlyList<PendingCommand> batch, CancellationToken cancellationToken)
    {
        await _retry.ExecuteAsync(
            async token =>
            {
                try
                {
                    await TryRecordAsync(batch, token);
                }
                catch (Exception e) when (EventStoreFailure.ShardsElsewhere(e) is { } shards)
                {
                    ownership.GiveUp(batch, shards);
                    throw;
                }
            },
            cancellationToken);
    }

    private async Task TryRecordAsync(IReadOnlyList<PendingCommand> batch, CancellationToken cancellationToken)
    {
        if (_retry.Attempts == 1)
        {
            // Commands that are tried again may have been delivered once more under another assignment.
            await ownership.BeginAsync(batch, cancellationToken);
        }
        else
        {
            // It is unknown whether the failed attempt was committed, or still will be:
            // the connection may break during the commit.
            await ownership.RenewAsync(batch.Where(c => !c.AbandonIfOver()).ToList(), cancellationToken);
            _cache.Remove(batch.Select(c => c.StreamId));
            await FindRecordedAsync(batch, open => ownership.FenceOf([], open), cancellationToken);
        }
        await EndExpiredAsync(batch, cancellationToken);
        await DecideAndAppendAsync(batch.Where(p => !p.IsDone).ToList(), cancellationToken);
    }

    private async Task FindRecordedAsync(
        IReadOnlyList<PendingCommand> batch, Func<List<PendingCommand>, Fence> fence,
        CancellationToken cancellationToken)
    {
        var open = batch.Where(c => !c.AbandonIfOver()).ToList();
        if (open.Count > 0)
        {
            Record(open, await store.FindReceiptsAsync(open.ConvertAll(c => c.Id), fence(open), cancellationToken));
        }
    }

    private static void Record(List<PendingCommand> open, Dictionary<CommandId, Wire.V1.Event> receipts)
    {
        foreach (var command in open)
        {
            if (receipts.TryGetValue(command.Id, out var recorded))
            {
                command.Record(recorded);
            }
        }
    }

    // Another owner of its partition may have recorded a command since its receipt was looked for; from now on none
    // can. A queued one whose sender is told that it has failed must not be recorded when it comes again: its id is
    // closed. Whoever waits for an answer may send the same again.
    private async Task EndExpiredAsync(IReadOnlyList<PendingCommand> batch, CancellationToken cancellationToken)
    {
        var now = time.Microseconds();
        var expired = batch.Where(c => !c.AbandonIfOver() && c.IsExpired(now)).ToList();
        // In this order: a queued copy that joins between the two may have a deadline that has not passed. One that
        // joins later is not closed here: it becomes a command of its own (PendingCommand.TakeLateCopies).
        var queued = expired.FindAll(c => c.IsQueued && c.IsExpired(now));
        await FindRecordedAsync(expired, ownership.FenceOf, cancellationToken);
        queued.RemoveAll(c => c.IsDone);
        if (queued.Count > 0)
        {
            Record(queued, await store.CloseAsync(
                queued.ConvertAll(c => (c.Id, c.Command.By)), ownership.FenceOf(queued), cancellationToken));
        }
        foreach (var command in expired.Where(c => !c.IsDone))
        {
            command.Expire();
        }
    }

    private async Task DecideAndAppendAsync(List<PendingCommand> open, CancellationToken cancellationToken)
    {
        if (open.Count == 0)
        {
            return;
        }
        var accounts = await AccountsAsync(open, cancellationToken);
        // After the accounts: if a payment has an event that its account does not have yet, the append fails by the
        // account's version.
        var payments = await FollowedUpPayments.ReadAsync(store, open, cancellationToken);
        var decidedAt = BackendMetrics.Now;
        var (decided, events, refused) = Decide(open, accounts, payments);
        if (events.Count > 0)
        {
            await store.AppendAsync(events, ownership.FenceOf(decided), cancellationToken);
            BackendMetrics.Took("append", decidedAt);
        }
        NoteWaits(open, decidedAt);
        var stored = time.Microseconds();
        for (var i = 0; i < decided.Count; i++)
        {
            decided[i].Record(events[i].Recorded, stored);
            _cache.Set(decided[i].StreamId, accounts[decided[i].StreamId], decided[i].Assignment);
        }
        // Refused only now: until the batch is stored, the state that contradicts the command may never exist.
        await RefuseAsync(refused, accounts, cancellationToken);
    }

    // A refusal is as well founded as an append: the account must be as it was decided. A copy of the command, on
    // another partition, may have been recorded since this one was deduplicated, and be the reason. And a former owner
    // of the partition refuses nothing: the present one may accept it.
    private async Task RefuseAsync(
        List<(PendingCommand Command, Refusal Refusal)> refused,
        Dictionary<string, Account> accounts, CancellationToken cancellationToken)
    {
        if (refused.Count == 0)
        {
            return;
        }
        var commands = refused.ConvertAll(r => r.Command);
        var versions = commands.Select(c => c.StreamId).Distinct()
            .ToDictionary(id => id, id => accounts[id].Version, StringComparer.Ordinal);
        var copies = await store.ConfirmAsync(
            commands.ConvertAll(c => c.Id), versions, ownership.FenceOf(commands), cancellationToken);
        Record(commands, copies);
        foreach (var (command, refusal) in refused.Where(r => !r.Command.IsDone))
        {
            command.Refuse(command.Kind.Explain(refusal));
        }
    }

    /// <summary>Decides commands one after the other, and applies their events to the accounts.</summary>
    private Decisions Decide(
        List<PendingCommand> open, Dictionary<string, Account> accounts, FollowedUpPayments payments)
    {
        // As precise as the times of answers and events, so that each of them finds its event.
        var now = UnixTime.FromMicroseconds(time.Microseconds());
        var decided = new List<PendingCommand>(open.Count);
        var events = new List<NewEvent>(open.Count);
        var refused = new List<(PendingCommand, Refusal)>();
        foreach (var command in open)
        {
            var account = accounts[command.StreamId];
            var decision = command.Command.Decide(account, payments.Of(command), now);
            if (decision.Refusal is { } refusal)
            {
                refused.Add((command, refusal));
                continue;
            }
            decided.Add(command);
            events.Add(NewEvent.Of(command.StreamId, decision.Event!, account));
            accounts[command.StreamId] = events[^1].After;
            payments.Apply(command.StreamId, decision.Event!);
        }
        return new Decisions(decided, events, refused);
    }

    private async Task<Dictionary<string, Account>> AccountsAsync(
        List<PendingCommand> open, CancellationToken cancellationToken)
    {
        var accounts = new Dictionary<string, Account>(open.Count, StringComparer.Ordinal);
        var unknown = new HashSet<string>(StringComparer.Ordinal);
        foreach (var command in open)
        {
            // What was read under another number of its shard may have changed elsewhere.
            if (_cache.TryGet(command.StreamId, out var account)
                && account.Incarnation == Shard.IncarnationOf(command.Holder.Epoch))
            {
                accounts[command.StreamId] = account;
            }
            else
            {
                unknown.Add(command.StreamId);
            }
        }
        BackendMetrics.CountCacheLookups(accounts.Count, unknown.Count);
        if (unknown.Count > 0)
        {
            var since = BackendMetrics.Now;
            foreach (var (streamId, account) in await store.LoadAsync([.. unknown], _opened, cancellationToken))
            {
                accounts[streamId] = account;
            }
            BackendMetrics.Took("load", since);
        }
        return accounts;
    }

    private static void NoteWaits(List<PendingCommand> decided, long decidedAt)
    {
        if (decidedAt != 0)
        {
            foreach (var command in decided)
            {
                BackendMetrics.Took("wait", command.ConsumedAt, decidedAt);
            }
        }
    }

    private void NoteCached()
    {
        var count = _cache.Count;
        BackendMetrics.CachedAccounts.Add(count - _cached);
        _cached = count;
    }

    /// <param name="Decided">Commands that have an event.</param>
    /// <param name="Events">Their events, in the same order.</param>
    /// <param name="Refused">Commands of which nothing is recorded.</param>
    private readonly record struct Decisions(
        List<PendingCommand> Decided, List<NewEvent> Events, List<(PendingCommand Command, Refusal Refusal)> Refused);

    [LoggerMessage(
        210, LogLevel.Warning, "A batch was not stored in the database {Database}, attempt {Attempt}: {Reason}")]
    private static partial void Retrying(ILogger logger, string database, int attempt, string reason);

    [LoggerMessage(211, LogLevel.Error, "A batch of {Count} commands cannot be recorded; trying its halves")]
    private partial void BatchFailed(Exception e, int count);

    [LoggerMessage(212, LogLevel.Error, "The command {TransactionId} of {StreamId} cannot be processed")]
    private partial void CommandFailed(Exception e, Guid transactionId, string streamId);

    [LoggerMessage(
        213, LogLevel.Error,
        "The command {TransactionId} of {StreamId} cannot be recorded at present, and is tried again")]
    private partial void CommandNotRecordable(Exception e, Guid transactionId, string streamId);
}
