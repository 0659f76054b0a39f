using System.Diagnostics;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Payments;

/// <summary>A command in flight, with every delivery that requests it.</summary>
internal sealed class PendingCommand
{
    private readonly List<Waiter> _waiters;

    public PendingCommand(Delivery delivery, string streamId, long arrival, long now)
        : this([new Waiter(delivery, now)], streamId, arrival, ToDomain(delivery))
    {
    }

    private PendingCommand(List<Waiter> waiters, string streamId, long arrival, AccountCommand command)
    {
        _waiters = waiters;
        Arrival = arrival;
        Kind = waiters[0].Kind;
        Processing = waiters[0].Delivery.Processing;
        StreamId = streamId;
        Shard = EventStore.Shard.Of(streamId);
        Command = command;
    }

    /// <summary>The command of the first delivery; for a question about a payment, that payment.</summary>
    public AccountCommand Command { get; }

    public string StreamId { get; }

    /// <summary>Its place in the order in which this process has taken commands.</summary>
    public long Arrival { get; }

    /// <summary>The shard of its account.</summary>
    public int Shard { get; }

    /// <summary>What it is known by in the event store.</summary>
    public CommandId Id => new(Command.TransactionId, StreamId);

    /// <summary>The kind of the first delivery's request.</summary>
    public WriteKind Kind { get; }

    /// <summary>Whether it is a question about a payment that was not in flight, so that there is nothing to decide.</summary>
    public bool IsStatusQuery => Kind.IsStatusQuery;

    /// <summary>The assignment under which the command is recorded: that of a delivery whose partition this process still owns, if
    /// there is one.</summary>
    public PartitionAssignment Assignment
    {
        get
        {
            lock (_waiters)
            {
                return (_waiters.Find(a => !a.IsOver) ?? _waiters[0]).Delivery.Assignment;
            }
        }
    }

    /// <summary>The span of the first delivery's processing; null if it is not traced.</summary>
    public Activity? Processing { get; }

    /// <summary>When the command was taken, for <see cref="BackendMetrics.Took"/>.</summary>
    public long ConsumedAt { get; } = BackendMetrics.Now;

    /// <summary>Completes when the command may be decided: it is authorised, and so are all earlier commands of its account.
    /// </summary>
    public Task Turn { get; set; } = Task.CompletedTask;

    /// <summary>Whether only its recording is left to do.</summary>
    public bool IsAuthorised { get; set; }

    /// <summary>What the command ended with; null while it needs further processing.</summary>
    public CommandResult? Result { get; private set; }

    public bool IsDone => Result is not null;

    /// <summary>Its outcome in the metric <c>billing.commands</c>; null if it is not counted here.</summary>
    public string? Outcome => Result switch
    {
        CommandResult.Recorded { Event: var recorded } => WriteKinds.Of(recorded)?.Outcome,
        CommandResult.Rejected => BackendMetrics.Failed,
        CommandResult.Refused => BackendMetrics.Refused,
        _ => null,
    };

    /// <summary>Counts the outcomes of commands that have their result: one update for each run of equal ones, of which a batch of
    /// thousands has few.</summary>
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

    /// <summary>Whether no caller waits for the command to be executed any more: each deadline has passed, or the caller has
    /// already been answered.</summary>
    public bool IsExpired(long nowUnixUs)
    {
        lock (_waiters)
        {
            return _waiters.TrueForAll(a => a.IsExpired(nowUnixUs));
        }
    }

    public void Join(Delivery delivery, long now)
    {
        lock (_waiters)
        {
            _waiters.Add(new Waiter(delivery, now));
        }
    }

    /// <summary>Ends the command with the receipt of its transaction id.</summary>
    /// <param name="receipt">The recorded event; or an event without a fact if the id is closed.</param>
    /// <param name="storedUnixUs">When the event was committed, in microseconds since the Unix epoch; 0 if it had been recorded
    /// before this command.</param>
    public void Record(Event receipt, long storedUnixUs = 0)
    {
        if (receipt.FactCase != Event.FactOneofCase.None)
        {
            Result = new CommandResult.Recorded(receipt, storedUnixUs);
        }
        else if (IsStatusQuery)
        {
            Refuse(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
                "Nothing was charged: the payment was not recorded before its deadline, and never will be.");
        }
        else
        {
            Refuse(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
                $"transaction_id {Command.TransactionId} was used before for a payment that was reported as failed; nothing is charged under it.");
        }
    }

    /// <summary>Ends the command here: the partition has another owner, which gets the command again.</summary>
    public void Abandon() => Result = new CommandResult.Abandoned();

    /// <summary>Ends the command in a lane whose database does not hold its shard.</summary>
    public void Misplace() => Result = new CommandResult.Misplaced();

    /// <summary>Ends commands in a lane whose database does not hold their shards.</summary>
    public static void Misplace(IEnumerable<PendingCommand> commands, IReadOnlySet<int> shards)
    {
        foreach (var command in commands.Where(c => !c.IsDone && shards.Contains(c.Shard)))
        {
            command.Misplace();
        }
    }

    /// <summary>Opens a misplaced command again, for another lane.</summary>
    public void TakeBack() => Result = null;

    public void Refuse(StatusCode status, string reason, string message, string field = "") =>
        Refuse(Error(status, reason, message, field));

    public void Refuse(Error error) => Result = new CommandResult.Refused(error);

    /// <summary>Whether a question about a payment that is neither recorded nor in flight comes before the payment's deadline. The
    /// payment may still come again until then, from a former owner of its partition, or on another partition.</summary>
    public bool IsEarly(long nowUnixUs) => _waiters[0].Delivery.Command.PaymentStatus.DeadlineUnixUs >= nowUnixUs;

    /// <summary>Ends a question about a payment that is neither recorded nor in flight, before the payment's deadline.</summary>
    public void RefuseAsEarly() => Refuse(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime,
        "The payment is neither recorded nor being processed, and its deadline has not passed.");

    /// <summary>Ends a command that cannot be processed. The reason goes to the operators, not to the callers.</summary>
    public void Reject(string reason) => Result = new CommandResult.Rejected(
        Error(StatusCode.Internal, ErrorReasons.ProcessingFailed, "The command could not be processed; it is kept for the operators."),
        "The command could not be processed: " + reason);

    /// <summary>Takes the deliveries that the command's end does not answer: copies that can still be recorded, because they have
    /// joined since the command expired or came with a new assignment of its partition; and questions about the payment, since another
    /// copy of it may be recorded elsewhere.</summary>
    /// <returns>A new command for the copies, with the questions; or a command for each question if there are no copies.</returns>
    public IReadOnlyList<PendingCommand> TakeOpen(long nowUnixUs)
    {
        lock (_waiters)
        {
            if (Result is CommandResult.Recorded)
            {
                return [];
            }
            var (isAbandoned, isExpired) = (Result is CommandResult.Abandoned, Result is CommandResult.Refused { Error.Reason: ErrorReasons.CommandExpired });
            var open = _waiters.FindAll(a => a.IsStatusQuery ? !a.IsTold && !(isAbandoned && a.IsOver)
                : isAbandoned ? !a.IsOver
                : isExpired && !a.IsExpired(nowUnixUs));
            _waiters.RemoveAll(open.Contains);
            return open.Exists(a => !a.IsStatusQuery)
                ? [new PendingCommand([.. open.OrderBy(a => a.IsStatusQuery)], StreamId, Arrival, Command)]
                : open.ConvertAll(a => new PendingCommand([a], StreamId, Arrival, Command));
        }
    }

    /// <summary>Takes the deliveries that have waited since a moment or longer and have not been answered yet, and marks them
    /// as answered. The command itself stays in flight. Where there is no deadline no caller waits, as for a dead letter that was replayed:
    /// it is executed however long that takes.</summary>
    public IEnumerable<Delivery> AnswerWaiting(long since)
    {
        lock (_waiters)
        {
            var waiting = _waiters.FindAll(a => !a.IsTold && a.Entered <= since && a.Delivery.Command.DeadlineUnixUs > 0);
            waiting.ForEach(a => a.IsTold = true);
            return waiting.ConvertAll(a => a.Delivery);
        }
    }

    /// <summary>Every delivery of the command. Call this only when no more can join.</summary>
    public IEnumerable<Delivery> Deliveries => _waiters.Select(a => a.Delivery);

    /// <summary>The answer to each delivery; null where the caller has already been answered. Call this only when no more can
    /// join.</summary>
    public IEnumerable<(Delivery Delivery, Reply? Reply)> Answers(long nowUnixUs) =>
        _waiters.Select(a => (a.Delivery, a.IsTold ? null : Answer(a, nowUnixUs)));

    private Reply Answer(Waiter waiter, long nowUnixUs)
    {
        var (delivery, command) = (waiter.Delivery, waiter.Delivery.Command);
        var reply = new Reply { CorrelationId = command.CorrelationId };
        Complete(reply, waiter.Kind, command);
        if (command.Timing is { } timing)
        {
            // Only the first delivery was decided, possibly before the others joined.
            var decided = waiter == _waiters[0] && Result is CommandResult.Recorded { StoredUnixUs: > 0 } recorded ? recorded : null;
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

    private void Complete(Reply reply, WriteKind kind, Command command)
    {
        switch (Result)
        {
            case CommandResult.Recorded { Event: var recorded } when kind.IsAnsweredBy(command, recorded):
                kind.Answer(reply, recorded);
                break;
            case CommandResult.Recorded:
                kind.Answer(reply, Error(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
                    $"transaction_id {command.TransactionId} was used before for this account, with other contents or for another kind of request."));
                break;
            case CommandResult.Refused { Error: var error }:
                kind.Answer(reply, error);
                break;
            default:
                throw new InvalidOperationException($"A command that ended with {Result} has no answer.");
        }
    }

    private static AccountCommand ToDomain(Delivery delivery)
    {
        var command = delivery.Command;
        var times = command.Timing is not { } timing ? null : new RequestTimes(
            UnixTime.FromMicroseconds(timing.SentUnixUs), UnixTime.FromMicroseconds(command.ReceivedUnixUs),
            UnixTime.FromMicroseconds(delivery.ConsumedUnixUs));
        var kind = WriteKinds.Of(command);
        var domain = kind.ToDomain(command, times, delivery.Processing?.TraceId.ToHexString());
        var notes = Notes.Of(kind.NotesOf(command));
        return command.Principal is null && notes is null ? domain : domain with
        {
            By = command.Principal is { } by ? new Sender(by.Subject, by.ClientId.Length > 0 ? by.ClientId : null) : null,
            Notes = notes,
        };
    }

    private static Error Error(StatusCode status, string reason, string message, string field = "") =>
        new() { StatusCode = (int)status, Reason = reason, Message = message, Field = field };

    private sealed class Waiter(Delivery delivery, long entered)
    {
        public Delivery Delivery => delivery;

        public long Entered => entered;

        public bool IsTold { get; set; }

        public bool IsOver => delivery.Assignment.IsOver;

        public WriteKind Kind { get; } = WriteKinds.Of(delivery.Command);

        public bool IsStatusQuery => Kind.IsStatusQuery;

        // A question about a payment is no reason to execute it.
        public bool IsExpired(long nowUnixUs) =>
            IsTold || IsStatusQuery || (Delivery.Command.DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs);
    }
}

/// <summary>What a command ends with.</summary>
internal abstract record CommandResult
{
    private CommandResult()
    {
    }

    /// <summary>An event is recorded under its transaction id.</summary>
    /// <param name="Event">The event.</param>
    /// <param name="StoredUnixUs">When it was committed, in microseconds since the Unix epoch; 0 if it had been recorded before
    /// this command.</param>
    public sealed record Recorded(Event Event, long StoredUnixUs) : CommandResult;

    /// <summary>No event is recorded for it; its callers get the error.</summary>
    public record Refused(Error Error) : CommandResult;

    /// <summary>It cannot be processed, and goes to the dead letters with the reason, which its callers do not get.</summary>
    public sealed record Rejected(Error Error, string Reason) : Refused(Error);

    /// <summary>Its account is in another database: it is neither recorded nor answered in this lane.</summary>
    public sealed record Misplaced : CommandResult;

    /// <summary>It is left to the next owner of its partition: neither recorded nor answered here.</summary>
    public sealed record Abandoned : CommandResult;
}
