using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.Backends;

/// <summary>The last step of every command: publishes its answer and event, waits for the acknowledgement, and only
/// then settles the delivery.</summary>
internal sealed partial class Replier(IAnswerPublisher publisher, Supervisor supervisor, ILogger<Replier> logger)
{
    private int _inFlight;

    /// <summary>Number of commands entered and not yet settled.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    public void Enter(int count)
    {
        Interlocked.Add(ref _inFlight, count);
        BackendMetrics.InFlight.Add(count);
    }

    /// <summary>Publishes answers and events, and settles the deliveries when the broker has acknowledged them. Returns
    /// as soon as they are handed to the producer, so successive calls by one caller are published in order. There is
    /// no answer where the caller has already been answered.</summary>
    public void Publish(IReadOnlyList<(Delivery Delivery, Reply? Reply)> answered, IReadOnlyList<Event> events)
    {
        var answers = new List<Answer>(answered.Count);
        foreach (var (delivery, reply) in answered)
        {
            if (reply is not null && HasReply(delivery))
            {
                answers.Add(new Answer(delivery.Command.ProxyTopic, reply));
            }
        }
        _ = SettleWhenSentAsync(PublishAsync(answers, events), answered);
    }

    /// <summary>Publishes an answer that may be large, and keeps only its bytes until it is acknowledged.</summary>
    /// <returns>Completes when it is acknowledged or has failed, and never fails.</returns>
    public Task PublishAsync(Delivery delivery, Reply reply) =>
        SettleWhenSentAsync(PublishAsync([new Answer(delivery.Command.ProxyTopic, reply)], []), [(delivery, null)]);

    /// <summary>Answers commands that stay in flight, so that their callers do not wait for something
    /// that may take long.</summary>
    public void Answer(IReadOnlyList<(Delivery Delivery, Reply Reply)> answered) => supervisor.Watch(
        "Publishing answers",
        PublishAsync(
            [
                .. answered.Where(a => HasReply(a.Delivery))
                    .Select(a => new Answer(a.Delivery.Command.ProxyTopic, a.Reply)),
            ],
            []));

    /// <summary>Leaves commands to the next owner of their partition: they are neither answered nor settled.</summary>
    public void Abandon(IReadOnlyCollection<Delivery> deliveries)
    {
        if (deliveries.Count == 0)
        {
            return;
        }
        LeftToOthers(deliveries.Count);
        foreach (var delivery in deliveries)
        {
            delivery.Abandon();
        }
        Leave(deliveries.Count);
    }

    /// <summary>Rejects a command that cannot be processed, and answers its caller with the error
    /// unless it is null.</summary>
    public void Reject(Delivery delivery, string reason, Reply? error)
    {
        delivery.Reject(reason);
        Leave(1);
        if (error is not null)
        {
            Answer([(delivery, error)]);
        }
    }

    private void Leave(int count) => Enter(-count);

    // Commands that backends send have none.
    private static bool HasReply(Delivery delivery) => delivery.Command.ProxyTopic.Length > 0;

    private async Task SettleWhenSentAsync(Task sent, IReadOnlyList<(Delivery Delivery, Reply? Reply)> answered)
    {
        var since = BackendMetrics.Now;
        try
        {
            await sent;
            foreach (var (delivery, _) in answered)
            {
                delivery.Settle();
            }
            BackendMetrics.Took("publish", since);
        }
        catch (Exception e)
        {
            // Not settled, so the commands are delivered again to the next process, which finds their receipts. This
            // process would not receive them again, and offsets behind them could never be committed: it has to fail.
            PublishingFailed(answered.Count);
            supervisor.Fail("Publishing answers", e);
        }
        finally
        {
            Leave(answered.Count);
        }
    }

    // Async, so that an exception while sending ends up in the task, like a missing acknowledgement.
    private async Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events) =>
        await publisher.PublishAsync(answers, events, CancellationToken.None);

    [LoggerMessage(201, LogLevel.Information, "Left {Count} commands to the next owner of their partitions")]
    private partial void LeftToOthers(int count);

    [LoggerMessage(
        200, LogLevel.Warning, "{Count} answers could not be published; their commands will be delivered again")]
    private partial void PublishingFailed(int count);
}
