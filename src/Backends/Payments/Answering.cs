using Billing.Backends.Payments.InFlight;
using Billing.Contracts;
using Billing.Hosting.Telemetry;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Payments;

/// <summary>The end of every command: its callers are answered, its event is published, and it is settled.
/// Thread-safe.</summary>
internal sealed partial class Answering(
    CommandsInFlight inFlight, Replier replier, TimeProvider time, ILogger<Answering> logger)
{
    /// <summary>Answers commands that have their result, and those that waited behind them and have it, too.</summary>
    /// <returns>The commands whose turn it is now, of those that waited behind them.</returns>
    public Left Answer(List<PendingCommand> done)
    {
        if (done.Count == 0)
        {
            return default;
        }
        using var span = Tracing.StartJoint("reply", done.Select(c => c.Processing));
        var now = time.Microseconds();
        var left = inFlight.Leave(done, now);
        Publish(left.Answered is null ? done : [.. done, .. left.Answered], now);
        PendingCommand.CountOutcomes(done);
        return left;
    }

    /// <summary>Tells callers that the store is unavailable. Their commands stay in flight.</summary>
    /// <param name="waiting">The deliveries of the callers.</param>
    /// <param name="patience">For how long they have waited.</param>
    public void AnswerUnavailable(List<Delivery> waiting, TimeSpan patience)
    {
        if (waiting.Count == 0)
        {
            return;
        }
        AnsweredUnavailable(waiting.Count, patience.TotalSeconds);
        replier.Answer(waiting.ConvertAll(delivery => (delivery, Replies.Error(
            delivery.Command.CorrelationId, StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable,
            "The event store cannot record this at the moment; retry with the same transaction_id."))));
    }

    private void Publish(List<PendingCommand> done, long now)
    {
        var (answers, events) = (new List<(Delivery, Reply?)>(done.Count), new List<Event>(done.Count));
        var abandoned = new List<Delivery>();
        foreach (var command in done)
        {
            switch (command.Result)
            {
                case null:
                    // Abandoned.
                    abandoned.AddRange(command.Deliveries);
                    break;
                case CommandResult.Rejected { Reason: var reason }:
                    foreach (var (delivery, reply) in command.Answers(now))
                    {
                        replier.Reject(delivery, reason, reply);
                    }
                    break;
                case CommandResult.Recorded { Event: var recorded } when !command.IsStatusQuery:
                    answers.AddRange(Answers(command, now));
                    events.Add(recorded);
                    break;
                default:
                    answers.AddRange(Answers(command, now));
                    break;
            }
        }
        replier.Abandon(abandoned);
        // Redelivered commands may arrive in a different order than they were recorded in: an expired one was not
        // recorded, but its later copy was, after other commands. Each account's events are published in the order
        // of their versions.
        events.Sort((one, other) => one.Version.CompareTo(other.Version));
        replier.Publish(answers, events);
    }

    private List<(Delivery, Reply?)> Answers(PendingCommand command, long nowUnixUs)
    {
        try
        {
            return [.. command.Answers(nowUnixUs)];
        }
        catch (Exception e)
        {
            Unanswerable(e, command.Id.TransactionId);
            foreach (var delivery in command.Deliveries)
            {
                replier.Reject(delivery, "The answer could not be built: " + e.Message, null);
            }
            return [];
        }
    }

    [LoggerMessage(224, LogLevel.Error, "The answer to transaction {TransactionId} cannot be built")]
    private partial void Unanswerable(Exception e, Guid transactionId);

    [LoggerMessage(
        221, LogLevel.Error,
        "The event store does not respond, or cannot record their commands: "
            + "answered {Count} callers that have waited for {Seconds} s with UNAVAILABLE")]
    private partial void AnsweredUnavailable(int count, double seconds);
}
