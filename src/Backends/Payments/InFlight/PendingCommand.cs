using System.Diagnostics;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Telemetry;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Payments.InFlight;

/// <summary>A command in flight, with every delivery that requests it. Deliveries under one transaction id that ask for
/// something else are commands of their own, which wait behind it (<see cref="CommandsInFlight"/>).</summary>
internal sealed class PendingCommand
{
    private readonly List<Waiter> _waiters;
    private readonly AccountCommand? _command;
    private volatile PendingCommand? _behind;

    public PendingCommand(Delivery delivery, string streamId, long now)
        : this(
            [new Waiter(delivery, now)],
            new CommandId(Guid.Parse(delivery.Command.TransactionId), streamId), DomainOf(delivery))
    {
    }

    private PendingCommand(List<Waiter> waiters, CommandId id, AccountCommand? command)
    {
        _waiters = waiters;
        _command = command;
        Kind = waiters[0].Kind;
        Processing = waiters[0].Delivery.Processing;
        Bytes = waiters[0].Delivery.Bytes;
        Id = id;
        Shard = EventStore.Shard.Of(id.StreamId);
    }

    /// <summary>What the deliveries request.</summary>
    /// <exception cref="InvalidOperationException">It is a question about a payment, of which there is
    /// nothing to decide.</exception>
    public AccountCommand Command => _command ?? throw new InvalidOperationException("A question changes no account.");

    /// <summary>What it is known by in the event store.</summary>
    public CommandId Id { get; }

    public string StreamId => Id.StreamId;

    /// <summary>The shard of its account.</summary>
    public int Shard { get; }

    /// <summary>The database that the command was given to, <see cref="ShardMap.Nowhere"/> if it waits for one,
    /// and the number under which the database held the shard then.</summary>
    public (int Database, long Epoch) Holder { get; set; } = (ShardMap.Nowhere, 0);

    /// <summary>The next command under its transaction id; null if none waits.</summary>
    public PendingCommand? Behind => _behind;

    public WriteKind Kind { get; }

    /// <summary>Whether it is a question about a payment.</summary>
    public bool IsStatusQuery => Kind.IsStatusQuery;

    /// <summary>Whether the sender of a delivery was told that it is queued: then its id is closed when its
    /// deadline has passed.</summary>
    public bool IsQueued
    {
        get
        {
            lock (_waiters)
            {
                return _waiters.Exists(a => a.IsQueued);
            }
        }
    }

    /// <summary>The size of its first record, in bytes; 0 if it came in none.</summary>
    public int Bytes { get; }

    /// <summary>The assignment of the partition that it was read from.</summary>
    public PartitionAssignment Assignment => _waiters[0].Delivery.Assignment;

    /// <summary>The span of the first delivery's processing; null if it is not traced.</summary>
    public Activity? Processing { get; }

    /// <summary>When the command was taken, for <see cref="BackendMetrics.Took"/>.</summary>
    public long ConsumedAt { get; } = BackendMetrics.Now;

    /// <summary>Completes when the command may be decided: it is authorised, and so are all earlier
    /// commands of its account.</summary>
    public Task Turn { get; set; } = Task.CompletedTask;

    /// <summary>Whether only its recording is left to do.</summary>
    public bool IsAuthorised { get; set; }

    /// <summary>What its callers are answered; null while it needs further processing, and if it is
    /// abandoned.</summary>
    public CommandResult? Result { get; private set; }

    /// <summary>Whether it is left to the next owner of its partition: it is neither recorded
    /// nor answered here.</summary>
    public bool IsAbandoned { get; private set; }

    public bool IsDone => IsAbandoned || Result is not null;

    /// <summary>Its outcome in the metric <c>billing.commands</c>; null if it is not counted here.</summary>
    public string? Outcome => Result switch
    {
        CommandResult.Recorded { Event: var recorded } => WriteKinds.Of(recorded)?.Outcome,
        CommandResult.Rejected => BackendMetrics.Failed,
        CommandResult.Refused => BackendMetrics.Refused,
        _ => null,
    };

    /// <summary>Counts the outcomes of commands that have their result: one update for each run of equal ones,
    /// of which a batch of thousands has few.</summary>
    public static void CountOutcomes(List<PendingCommand> done)
    {
        for (var next = 0; next < done.Count;)
        {
            var (first, outcome) = (next, done[next].Outcome);
            while (next < done.Count && done[next].Outcome == outcome)
            {
                next++;
            }
            if (outcome is not null)
            {
                BackendMetrics.CountOutcomes(outcome, next - first);
            }
        }
    }

    /// <summary>Whether the deadline of each delivery has passed. Whatever its callers were told, a command is
    /// executed until then.</summary>
    public bool IsExpired(long nowUnixUs)
    {
        lock (_waiters)
        {
            return _waiters.TrueForAll(a => a.IsExpired(nowUnixUs));
        }
    }

    /// <summary>Adds a delivery to the first of the commands under this id that asks for the same, or else as the last
    /// of them. A question joins only the last: it must not be asked before a payment that came before it.</summary>
    /// <param name="next">The delivery, as a command of its own.</param>
    /// <returns>Whether it has joined a command.</returns>
    public bool Queue(PendingCommand next)
    {
        for (var command = this; ; command = command._behind)
        {
            if ((command._behind is null || !next.IsStatusQuery) && command.IsSameAs(next))
            {
                command.Join(next);
                return true;
            }
            if (command._behind is null)
            {
                command._behind = next;
                return false;
            }
        }
    }

    /// <summary>Puts a command before those that wait.</summary>
    public void PutBefore(PendingCommand? behind) => _behind = behind;

    private bool IsSameAs(PendingCommand other) => Kind == other.Kind && (IsStatusQuery
        ? _waiters[0].Delivery.Command.PaymentStatus.Fingerprint
            .Equals(other._waiters[0].Delivery.Command.PaymentStatus.Fingerprint)
        : Command.IsCopyOf(other.Command));

    private void Join(PendingCommand copy)
    {
        lock (_waiters)
        {
            _waiters.AddRange(copy._waiters);
        }
    }

    /// <summary>Ends the command with the receipt of its transaction id.</summary>
    /// <param name="receipt">The recorded event; or an event without a fact if the id is closed.</param>
    /// <param name="storedUnixUs">When the event was committed, in microseconds since the Unix epoch;
    /// 0 if it had been recorded before this command.</param>
    public void Record(Event receipt, long storedUnixUs = 0) => Result =
        receipt.FactCase != Event.FactOneofCase.None ? new CommandResult.Recorded(receipt, storedUnixUs)
        : IsStatusQuery ? new CommandResult.Closed(Error(
            StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
            "Nothing was charged: the payment was not recorded before its deadline, and never will be."))
        : new CommandResult.Closed(Error(
            StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
            $"Nothing is recorded under transaction_id {Id.TransactionId}, and never will be: "
                + "the deadline of a queued payment passed before it was recorded."));

    /// <summary>Ends the command as the one before it under its transaction id has ended:
    /// <see cref="HasEndedAll"/>.</summary>
    public void EndLike(PendingCommand first)
    {
        IsAbandoned = first.IsAbandoned;
        if (!IsAbandoned)
        {
            Record(first.Result is CommandResult.Recorded { Event: var recorded } ? recorded : new Event());
        }
    }

    /// <summary>Whether all commands under its transaction id have their end: the id is taken for good, or the
    /// partition is given up.</summary>
    public bool HasEndedAll => IsAbandoned || Result is CommandResult.Recorded or CommandResult.Closed;

    /// <summary>Abandons the command, unless it has its end, if the assignment of its partition is over:
    /// the partition's next owner gets it again, which may be this process.</summary>
    /// <returns>Whether the command has its end.</returns>
    public bool AbandonIfOver()
    {
        IsAbandoned |= Result is null && Assignment.IsOver;
        return IsDone;
    }

    public void Refuse(Error error) => Result = new CommandResult.Refused(error);

    /// <summary>Ends a command that was not recorded before its deadline.</summary>
    public void Expire() => Result = new CommandResult.Expired(Error(
        StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
        "The deadline passed before the command was recorded; nothing was changed."));

    /// <summary>Ends a question about a payment that is neither recorded nor in flight. If the question came on the
    /// payment's partition, it came after the payment; on another one, the payment may be still to come.</summary>
    public void RefuseAsUnknown()
    {
        var hasFollowed = _waiters.TrueForAll(
            a => a.Delivery.Command.PaymentStatus.Partition == a.Delivery.Assignment.Partition.Number);
        Refuse(hasFollowed
            ? Error(StatusCode.NotFound, ErrorReasons.PaymentNotFound,
                "Nothing is recorded under this transaction_id, and nothing is being processed: the payment was lost "
                    + "on its way, or is kept for the operators. Send it again with the same transaction_id.")
            : Error(
                StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime,
                "Nothing is recorded under this transaction_id yet."));
    }

    /// <summary>Ends a command that cannot be processed. The reason goes to the operators,
    /// not to the callers.</summary>
    public void Reject(string reason) => Result = new CommandResult.Rejected(
        Error(
            StatusCode.Internal, ErrorReasons.ProcessingFailed,
            "The command could not be processed; it is kept for the operators."),
        "The command could not be processed: " + reason);

    /// <summary>Takes the deliveries that the command's end does not answer: copies that have joined since it expired.
    /// A queued copy that joined too late to have its id closed is taken even if its own deadline has passed as well:
    /// it ends when its id is closed.</summary>
    /// <returns>The command for them; null if there are none.</returns>
    public PendingCommand? TakeLateCopies(long nowUnixUs)
    {
        if (Result is not CommandResult.Expired)
        {
            return null;
        }
        lock (_waiters)
        {
            var open = _waiters.FindAll(a => a.IsQueued || !a.IsExpired(nowUnixUs));
            _waiters.RemoveAll(open.Contains);
            return open.Count == 0
                ? null
                : new PendingCommand(open, Id, _command) { IsAuthorised = IsAuthorised, Holder = Holder };
        }
    }

    /// <summary>Takes the deliveries, also of those that wait behind it, that have waited since a moment or longer and
    /// have not been answered yet, and marks them as answered. The commands themselves stay in flight. Where there is
    /// no deadline no caller waits, as for a dead letter that was replayed.</summary>
    public IEnumerable<Delivery> AnswerWaiting(long since)
    {
        var waiting = new List<Waiter>();
        for (var command = this; command is not null; command = command._behind)
        {
            lock (command._waiters)
            {
                var told = command._waiters.FindAll(a => !a.IsAnswered && a.Entered <= since && a.DeadlineUnixUs > 0);
                told.ForEach(a => a.IsAnswered = true);
                waiting.AddRange(told);
            }
        }
        return waiting.ConvertAll(a => a.Delivery);
    }

    /// <summary>Every delivery of the command. Call this only when no more can join.</summary>
    public IEnumerable<Delivery> Deliveries => _waiters.Select(a => a.Delivery);

    /// <summary>The answer to each delivery; null where the caller has already been answered.
    /// Call this only when no more can join.</summary>
    public IEnumerable<(Delivery Delivery, Reply? Reply)> Answers(long nowUnixUs) =>
        _waiters.Select(a => (a.Delivery, a.IsAnswered ? null : Answer(a, nowUnixUs)));

    private Reply Answer(Waiter waiter, long nowUnixUs)
    {
        var (delivery, command) = (waiter.Delivery, waiter.Delivery.Command);
        var reply = new Reply { CorrelationId = command.CorrelationId };
        // Only the first delivery was decided, possibly before the others joined.
        var decided =
            waiter == _waiters[0] && Result is CommandResult.Recorded { StoredUnixUs: > 0 } recorded ? recorded : null;
        Complete(reply, waiter.Kind, command, isReplay: decided is null);
        if (command.Timing is { } timing)
        {
            reply.Timing = new Timing
            {
                SentUnixUs = timing.SentUnixUs,
                AppendedUnixUs = delivery.AppendedUnixUs,
                ConsumedUnixUs = delivery.ConsumedUnixUs,
                DecidedUnixUs = decided?.Event.DecidedUnixUs ?? 0,
                StoredUnixUs = decided?.StoredUnixUs ?? 0,
                RepliedUnixUs = nowUnixUs,
            };
        }
        return reply;
    }

    private void Complete(Reply reply, WriteKind kind, Command command, bool isReplay)
    {
        switch (Result)
        {
            case CommandResult.Recorded { Event: var recorded } when kind.IsAnsweredBy(command, recorded):
                kind.Answer(reply, recorded, isReplay);
                break;
            case CommandResult.Recorded:
                kind.Answer(reply, Error(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
                    $"transaction_id {command.TransactionId} was used before for this account, with other contents or "
                        + "for another kind of request."));
                break;
            case CommandResult.Refused { Error: var error }:
                kind.Answer(reply, error);
                break;
            default:
                throw new InvalidOperationException($"A command that ended with {Result} has no answer.");
        }
    }

    private static AccountCommand? DomainOf(Delivery delivery)
    {
        var command = delivery.Command;
        var kind = WriteKinds.Of(command);
        if (kind.IsStatusQuery)
        {
            return null;
        }
        var times = command.Timing is not { } timing ? null : new RequestTimes(
            UnixTime.FromMicroseconds(timing.SentUnixUs), UnixTime.FromMicroseconds(command.ReceivedUnixUs),
            UnixTime.FromMicroseconds(delivery.ConsumedUnixUs));
        var domain = kind.ToDomain(command, times, delivery.Processing?.TraceId.ToHexString());
        var notes = Notes.Of(kind.NotesOf(command));
        return command.Principal is null && notes is null ? domain : domain with
        {
            By = command.Principal is { } by
                ? new Sender(by.Subject, by.ClientId.Length > 0 ? by.ClientId : null)
                : null,
            Notes = notes,
        };
    }

    private static Error Error(StatusCode status, string reason, string message) =>
        new() { StatusCode = (int)status, Reason = reason, Message = message };

    private sealed class Waiter(Delivery delivery, long entered)
    {
        public Delivery Delivery => delivery;

        public long Entered => entered;

        public bool IsAnswered { get; set; }

        public bool IsQueued => delivery.Command.IsQueued;

        public WriteKind Kind { get; } = WriteKinds.Of(delivery.Command);

        public long DeadlineUnixUs => delivery.DeadlineUnixUs;

        public bool IsExpired(long nowUnixUs) => DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs;
    }
}
