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
    private long _storedUnixUs;

    /// <summary>Creates a command with its first delivery.</summary>
    /// <param name="delivery">The delivery.</param>
    /// <param name="streamId">The stream of the command's account.</param>
    /// <param name="now">A timestamp of the clock that <see cref="AnswerWaiting"/> uses.</param>
    public PendingCommand(Delivery delivery, string streamId, long now)
    {
        _waiters = [new Waiter(delivery, now)];
        IsStatusQuery = WireCommand.IsStatusQuery(delivery.Command);
        Command = WireCommand.ToDomain(delivery.Command, delivery.Processing?.TraceId.ToHexString());
        Processing = delivery.Processing;
        ConsumedAt = BackendMetrics.Now;
        StreamId = streamId;
        Partition = delivery.Partition;
    }

    private PendingCommand(PendingCommand expired, List<Waiter> waiting)
    {
        _waiters = waiting;
        Command = expired.Command;
        Processing = waiting[0].Delivery.Processing;
        ConsumedAt = BackendMetrics.Now;
        StreamId = expired.StreamId;
        Partition = expired.Partition;
    }

    /// <summary>The command of the first delivery.</summary>
    public AccountCommand Command { get; }

    /// <summary>The account's stream.</summary>
    public string StreamId { get; }

    /// <summary>The partition of the first delivery.</summary>
    public SourcePartition Partition { get; }

    /// <summary>The span of the first delivery's processing; null if it is not traced.</summary>
    public Activity? Processing { get; }

    /// <summary>When the command was taken, for <see cref="BackendMetrics.Took"/>.</summary>
    public long ConsumedAt { get; }

    /// <summary>Completes when the command may be decided: it is authorised, and so are all earlier commands of its account.
    /// </summary>
    public Task Turn { get; set; } = Task.CompletedTask;

    /// <summary>The event recorded for the command; null until there is one.</summary>
    public Event? Recorded { get; private set; }

    /// <summary>Why no event is recorded for the command; null if it is not refused.</summary>
    public Error? Refusal { get; private set; }

    /// <summary>Why the command goes to the dead letters; null if it does not.</summary>
    public string? Rejection { get; private set; }

    /// <summary>Whether it is a question about a payment that was not in flight, so that there is nothing to decide.</summary>
    public bool IsStatusQuery { get; }

    /// <summary>Whether the command has its result.</summary>
    public bool IsDone => Recorded is not null || Refusal is not null;

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

    /// <summary>Ends the command with the event recorded for it.</summary>
    /// <param name="recorded">The event.</param>
    /// <param name="storedUnixUs">When the event was committed, in microseconds since the Unix epoch; 0 if it had been recorded
    /// before this command.</param>
    public void Record(Event recorded, long storedUnixUs = 0)
    {
        Recorded = recorded;
        _storedUnixUs = storedUnixUs;
    }

    /// <summary>Ends the command with an error; no event is recorded for it.</summary>
    public void Refuse(StatusCode status, string reason, string message, string field = "") =>
        Refusal = Error(status, reason, message, field);

    /// <summary>Ends a question about a payment that is neither recorded nor in flight.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch.</param>
    public void RefuseAsNotRecorded(long nowUnixUs)
    {
        if (_waiters[0].Delivery.Command.PaymentStatus.DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs)
        {
            Refuse(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
                "Nothing was charged: the payment was not recorded before its deadline.");
        }
        else
        {
            Refuse(StatusCode.Internal, ErrorReasons.ProcessingFailed,
                "Nothing was charged: the payment could not be processed, or was never sent.");
        }
    }

    /// <summary>Ends a command that cannot be processed. The reason goes to the operators, not to the callers.</summary>
    /// <param name="reason">The reason, for the operators.</param>
    public void Reject(string reason)
    {
        Rejection = "The command could not be processed: " + reason;
        Refuse(StatusCode.Internal, ErrorReasons.ProcessingFailed,
            "The command could not be processed; it is kept for the operators.");
    }

    /// <summary>Takes the deliveries that have joined since the command was refused as expired.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch.</param>
    /// <returns>A new command for these deliveries, to be processed after all; null if there are none.</returns>
    public PendingCommand? TakeWaiting(long nowUnixUs)
    {
        lock (_waiters)
        {
            if (Refusal?.Reason != ErrorReasons.CommandExpired || _waiters.TrueForAll(a => a.IsExpired(nowUnixUs)))
            {
                return null;
            }
            // Questions about the payment wait for its final result, and so move to the new command as well.
            var waiting = _waiters.FindAll(a => !a.IsExpired(nowUnixUs));
            waiting.AddRange(_waiters.FindAll(a => a.IsStatusQuery && !a.IsTold));
            _waiters.RemoveAll(waiting.Contains);
            return new PendingCommand(this, waiting);
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
        var reply = Answer(waiter.Delivery.Command);
        if (waiter.Delivery.Command.Timing is { } timing)
        {
            // Only the first delivery was decided, possibly before the others joined.
            var isDecided = waiter == _waiters[0] && _storedUnixUs > 0;
            reply.Timing = new Timing(timing)
            {
                DecidedUnixUs = isDecided ? Recorded!.DecidedUnixUs : 0,
                StoredUnixUs = isDecided ? _storedUnixUs : 0,
                RepliedUnixUs = nowUnixUs,
            };
        }
        return reply;
    }

    private Reply Answer(Command command)
    {
        if (Refusal is not null)
        {
            return WireCommand.ToReply(command, Refusal);
        }
        return WireCommand.IsAnsweredBy(command, Recorded!)
            ? WireCommand.ToReply(command, Recorded!)
            : WireCommand.ToReply(command, Error(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused,
                $"transaction_id {command.TransactionId} was used before with another account, payment type or amount."));
    }

    private static Error Error(StatusCode status, string reason, string message, string field = "") =>
        new() { StatusCode = (int)status, Reason = reason, Message = message, Field = field };

    private sealed class Waiter(Delivery delivery, long entered)
    {
        public Delivery Delivery => delivery;

        public long Entered => entered;

        public bool IsTold { get; set; }

        public bool IsStatusQuery { get; } = WireCommand.IsStatusQuery(delivery.Command);

        // A question about a payment is no reason to execute it.
        public bool IsExpired(long nowUnixUs) =>
            IsTold || IsStatusQuery || (Delivery.Command.DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs);
    }
}
