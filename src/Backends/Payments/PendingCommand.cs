using System.Diagnostics;
using Billing.Backends.Domain;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Payments;

/// <summary>A command on its way through the backend, with every delivery that asks for it.</summary>
public sealed class PendingCommand
{
    private readonly List<Waiter> _waiters;
    private long _storedUnixUs;

    /// <summary>A command that one delivery asks for so far.</summary>
    /// <param name="delivery">The delivery.</param>
    /// <param name="streamId">The stream of the account that it is about.</param>
    /// <param name="now">A timestamp of the clock that <see cref="TellWaiting"/> is asked with.</param>
    public PendingCommand(Delivery delivery, string streamId, long now)
    {
        _waiters = [new Waiter(delivery, now)];
        IsQuestion = WireCommand.IsQuestion(delivery.Command);
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

    /// <summary>What the first delivery asks for.</summary>
    public AccountCommand Command { get; }

    /// <summary>The account's stream.</summary>
    public string StreamId { get; }

    /// <summary>Where the first delivery came from.</summary>
    public SourcePartition Partition { get; }

    /// <summary>The span of the first delivery's processing; null where that is not traced.</summary>
    public Activity? Processing { get; }

    /// <summary>When the command was taken, for <see cref="BackendMetrics.Took"/>.</summary>
    public long ConsumedAt { get; }

    /// <summary>Completes when the command may be decided: authorised, and every earlier one of its account before it.
    /// </summary>
    public Task Turn { get; set; } = Task.CompletedTask;

    /// <summary>What is recorded for the command, once something is.</summary>
    public Event? Recorded { get; private set; }

    /// <summary>Why nothing is recorded for it, where that is so.</summary>
    public Error? Refusal { get; private set; }

    /// <summary>Why the command belongs in the dead letters, where it does.</summary>
    public string? Rejection { get; private set; }

    /// <summary>Whether it is a question about a payment that was not in flight: there is nothing to decide.</summary>
    public bool IsQuestion { get; }

    /// <summary>Whether the command has its result.</summary>
    public bool IsDone => Recorded is not null || Refusal is not null;

    /// <summary>Whether nobody waits for the command any more: every deadline has passed, or the caller was told something
    /// else.</summary>
    public bool IsExpired(long nowUnixUs)
    {
        lock (_waiters)
        {
            return _waiters.TrueForAll(a => a.IsExpired(nowUnixUs));
        }
    }

    /// <summary>Adds a delivery that asks for the same transaction.</summary>
    public void Join(Delivery delivery, long now)
    {
        lock (_waiters)
        {
            _waiters.Add(new Waiter(delivery, now));
        }
    }

    /// <summary>Ends the command with what is recorded for it.</summary>
    /// <param name="recorded">The event.</param>
    /// <param name="storedUnixUs">When this command's own was committed, in microseconds since the Unix epoch; 0 where it was
    /// recorded before.</param>
    public void Record(Event recorded, long storedUnixUs = 0)
    {
        Recorded = recorded;
        _storedUnixUs = storedUnixUs;
    }

    /// <summary>Ends the command with nothing recorded for it.</summary>
    public void Refuse(StatusCode status, string reason, string message, string field = "") =>
        Refusal = Error(status, reason, message, field);

    /// <summary>Ends a question about a payment for which nothing is recorded, and which is not in flight.</summary>
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

    /// <summary>Ends the command: it cannot be processed. Its callers are not told what broke, the operators are.</summary>
    /// <param name="reason">Why, for the operators.</param>
    public void Reject(string reason)
    {
        Rejection = "The command could not be processed: " + reason;
        Refuse(StatusCode.Internal, ErrorReasons.ProcessingFailed,
            "The command could not be processed; it is kept for the operators.");
    }

    /// <summary>Takes those who have come to wait since the command was refused as expired.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch.</param>
    /// <returns>The command as they ask for it, to be processed after all; null where there is nobody.</returns>
    public PendingCommand? TakeWaiting(long nowUnixUs)
    {
        lock (_waiters)
        {
            if (Refusal?.Reason != ErrorReasons.CommandExpired || _waiters.TrueForAll(a => a.IsExpired(nowUnixUs)))
            {
                return null;
            }
            // Who asks about the payment waits for what becomes of it in the end.
            var waiting = _waiters.FindAll(a => !a.IsExpired(nowUnixUs));
            waiting.AddRange(_waiters.FindAll(a => a.IsQuestion && !a.IsTold));
            _waiters.RemoveAll(waiting.Contains);
            return new PendingCommand(this, waiting);
        }
    }

    /// <summary>Takes those who have waited since before a moment and were not told anything yet; from now on they count as
    /// told. The command itself goes on.</summary>
    public IEnumerable<Delivery> TellWaiting(long since)
    {
        lock (_waiters)
        {
            var waiting = _waiters.FindAll(a => !a.IsTold && a.Entered <= since);
            waiting.ForEach(a => a.IsTold = true);
            return waiting.ConvertAll(a => a.Delivery);
        }
    }

    /// <summary>Every delivery that asks for the command. Call this when no more can join.</summary>
    public IEnumerable<Delivery> Deliveries => _waiters.Select(a => a.Delivery);

    /// <summary>The answer to each delivery; null for one whose caller was told something else before. Call this when no
    /// more can join.</summary>
    /// <param name="nowUnixUs">The present time in microseconds since the Unix epoch, for those that are timed.</param>
    public IEnumerable<(Delivery Delivery, Reply? Reply)> Answers(long nowUnixUs) =>
        _waiters.Select(a => (a.Delivery, a.IsTold ? null : Answer(a, nowUnixUs)));

    private Reply Answer(Waiter waiter, long nowUnixUs)
    {
        var reply = Answer(waiter.Delivery.Command);
        if (waiter.Delivery.Command.Timing is { } timing)
        {
            // Those that joined were not decided: what the first one asked for was, maybe before they came.
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
        return WireCommand.Asks(command, Recorded!)
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

        public bool IsQuestion { get; } = WireCommand.IsQuestion(delivery.Command);

        // Who only asks about a payment does not have it made.
        public bool IsExpired(long nowUnixUs) =>
            IsTold || IsQuestion || (Delivery.Command.DeadlineUnixUs is > 0 and var deadline && deadline < nowUnixUs);
    }
}
