using System.Diagnostics;
using Billing.Backends.Domain;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Payments;

/// <summary>A command in flight, with every delivery that requests it.</summary>
public sealed class PendingCommand
{
    private readonly List<Waiter> _waiters;

    /// <summary>Creates a command with its first delivery.</summary>
    /// <param name="delivery">The delivery.</param>
    /// <param name="streamId">The stream of the command's account.</param>
    /// <param name="now">A timestamp of the clock that <see cref="AnswerWaiting"/> uses.</param>
    public PendingCommand(Delivery delivery, string streamId, long now)
    {
        _waiters = [new Waiter(delivery, now)];
        IsStatusQuery = WireCommand.IsStatusQuery(delivery.Command);
        Command = WireCommand.ToDomain(delivery);
        Processing = delivery.Processing;
        ConsumedAt = BackendMetrics.Now;
        StreamId = streamId;
    }

    private PendingCommand(PendingCommand former, List<Waiter> waiting)
    {
        _waiters = waiting;
        IsStatusQuery = waiting[0].IsStatusQuery;
        Command = former.Command;
        Processing = waiting[0].Delivery.Processing;
        ConsumedAt = BackendMetrics.Now;
        StreamId = former.StreamId;
    }

    /// <summary>The command of the first delivery.</summary>
    public AccountCommand Command { get; }

    /// <summary>The account's stream.</summary>
    public string StreamId { get; }

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
    public long ConsumedAt { get; }

    /// <summary>Completes when the command may be decided: it is authorised, and so are all earlier commands of its account.
    /// </summary>
    public Task Turn { get; set; } = Task.CompletedTask;

    /// <summary>What the command ended with; null while it needs further processing.</summary>
    public CommandResult? Result { get; private set; }

    /// <summary>Whether it is a question about a payment that was not in flight, so that there is nothing to decide.</summary>
    public bool IsStatusQuery { get; }

    /// <summary>Whether the command needs no further processing.</summary>
    public bool IsDone => Result is not null;

    /// <summary>Whether no caller waits for the command to be executed any more: each deadline has passed, or the caller has
    /// already been answered.</summary>
    public bool IsExpired(long nowUnixUs)
    {
        lock (_waiters)
        {
            return _waiters.TrueForAll(a => a.IsExpired(nowUnixUs));
        }
    }

    /// <summary>Adds a delivery of the same transaction.</summary>
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
        if (receipt.FactCase == Event.FactOneofCase.None)
        {
            RefuseAsClosed();
            return;
        }
        Result = new CommandResult.Recorded(receipt, storedUnixUs);
    }

    /// <summary>Ends the command here: the partition has another owner, which gets the command again.</summary>
    public void Abandon() => Result = new CommandResult.Abandoned();

    /// <summary>Ends the command with an error; no event is recorded for it.</summary>
    public void Refuse(StatusCode status, string reason, string message, string field = "") =>
        Result = new CommandResult.Refused(Error(status, reason, message, field));

    /// <summary>Whether a question about a payment that is neither recorded nor in flight comes before the payment's deadline. The
    /// payment may still come again until then, from a former owner of its partition, or on another partition.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch.</param>
    public bool IsEarly(long nowUnixUs) => _waiters[0].Delivery.Command.PaymentStatus.DeadlineUnixUs >= nowUnixUs;

    /// <summary>Ends a question about a payment that is neither recorded nor in flight, before the payment's deadline.</summary>
    public void RefuseAsEarly() => Refuse(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime,
        "The payment is neither recorded nor being processed, and its deadline has not passed.");

    private void RefuseAsClosed()
    {
        if (IsStatusQuery)
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

    /// <summary>Ends a command that cannot be processed. The reason goes to the operators, not to the callers.</summary>
    /// <param name="reason">The reason, for the operators.</param>
    public void Reject(string reason) => Result = new CommandResult.Rejected(
        Error(StatusCode.Internal, ErrorReasons.ProcessingFailed, "The command could not be processed; it is kept for the operators."),
        "The command could not be processed: " + reason);

    /// <summary>Takes the deliveries that the command's end does not answer: copies that can still be recorded, because they have
    /// joined since the command expired or came with a new assignment of its partition; and questions about the payment, since another
    /// copy of it may be recorded elsewhere.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch.</param>
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
                ? [new PendingCommand(this, [.. open.OrderBy(a => a.IsStatusQuery)])]
                : open.ConvertAll(a => new PendingCommand(this, [a]));
        }
    }

    /// <summary>Takes the deliveries that have waited since a moment or longer and have not been answered yet, and marks them
    /// as answered. The command itself stays in flight.</summary>
    public IEnumerable<Delivery> AnswerWaiting(long since)
    {
        lock (_waiters)
        {
            var waiting = _waiters.FindAll(a => !a.IsTold && a.Entered <= since);
            waiting.ForEach(a => a.IsTold = true);
            return waiting.ConvertAll(a => a.Delivery);
        }
    }

    /// <summary>Every delivery of the command. Call this only when no more can join.</summary>
    public IEnumerable<Delivery> Deliveries => _waiters.Select(a => a.Delivery);

    /// <summary>The answer to each delivery; null where the caller has already been answered. Call this only when no more can
    /// join.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch, for the timing in the answers.</param>
    public IEnumerable<(Delivery Delivery, Reply? Reply)> Answers(long nowUnixUs) =>
        _waiters.Select(a => (a.Delivery, a.IsTold ? null : Answer(a, nowUnixUs)));

    private Reply Answer(Waiter waiter, long nowUnixUs)
    {
        var (delivery, command) = (waiter.Delivery, waiter.Delivery.Command);
        var reply = Answer(command);
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

    private Reply Answer(Command command) => Result switch
    {
        CommandResult.Recorded { Event: var recorded } => WireCommand.IsAnsweredBy(command, recorded)
            ? WireCommand.ToReply(command, recorded)
            : WireCommand.ToReply(command, Error(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
                $"transaction_id {command.TransactionId} was used before with another account, payment type or amount.")),
        CommandResult.Refused { Error: var error } => WireCommand.ToReply(command, error),
        CommandResult.Rejected { Error: var error } => WireCommand.ToReply(command, error),
        _ => throw new InvalidOperationException($"A command that ended with {Result} has no answer."),
    };

    private static Error Error(StatusCode status, string reason, string message, string field = "") =>
        new() { StatusCode = (int)status, Reason = reason, Message = message, Field = field };

    private sealed class Waiter(Delivery delivery, long entered)
    {
        public Delivery Delivery => delivery;

        public long Entered => entered;

        public bool IsTold { get; set; }

        public bool IsOver => delivery.Assignment.IsOver;

        public bool IsStatusQuery { get; } = WireCommand.IsStatusQuery(delivery.Command);

        // A question about a payment is no reason to execute it.
        public bool IsExpired(long nowUnixUs) =>
            IsTold || IsStatusQuery || (Delivery.Command.DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs);
    }
}
