using Billing.Backends.Telemetry;
using Billing.Messaging;
using Billing.Messaging.Hosting;
using Billing.Wire.V1;

namespace Billing.Backends;

/// <summary>The last step of every command: publish its answer and event, wait for the acknowledgement, and only then let
/// the transport forget it.</summary>
public sealed partial class AnswerSettler(IAnswerPublisher publisher, Supervisor supervisor, ILogger<AnswerSettler> logger)
{
    private int _inFlight;

    /// <summary>Commands entered and not yet settled.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Enters commands.</summary>
    public void Enter(int count)
    {
        Interlocked.Add(ref _inFlight, count);
        BackendMetrics.Flight(count);
    }

    /// <summary>Publishes answers and events, and settles the deliveries when the broker has them. Returns at once, having
    /// sent: what one caller publishes in turn stays in order.</summary>
    /// <param name="answered">Deliveries and their answers; null for one whose caller was told before.</param>
    /// <param name="events">What happened.</param>
    public void Settle(IReadOnlyList<(Delivery Delivery, Reply? Reply)> answered, IReadOnlyList<Event> events)
    {
        var answers = new List<Answer>(answered.Count);
        foreach (var (delivery, reply) in answered)
        {
            if (reply is not null)
            {
                answers.Add(new Answer(delivery.Command.ProxyTopic, reply));
            }
        }
        _ = SettleWhenSentAsync(PublishAsync(answers, events), answered);
    }

    /// <summary>Answers commands that stay in flight: their callers need not wait for what may take long.</summary>
    public void Tell(IReadOnlyList<(Delivery Delivery, Reply Reply)> answered) => supervisor.Watch(
        "Publishing answers", PublishAsync([.. answered.Select(a => new Answer(a.Delivery.Command.ProxyTopic, a.Reply))], []));

    /// <summary>Puts a command aside that cannot be processed, and tells its sender, unless that was told before.</summary>
    public void Reject(Delivery delivery, string reason, Reply? error)
    {
        delivery.Reject(reason);
        Interlocked.Decrement(ref _inFlight);
        BackendMetrics.Flight(-1);
        if (error is null)
        {
            return;
        }
        supervisor.Watch("Publishing answers", PublishAsync([new Answer(delivery.Command.ProxyTopic, error)], []));
    }

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
            BackendMetrics.Took(BackendMetrics.Steps.Publish, since);
        }
        catch (Exception e)
        {
            // Not settled: the commands come again, to the next process, and find their receipts. To this one they would not
            // come, and all that is settled behind them would wait for them.
            PublishingFailed(answered.Count);
            supervisor.Fail("Publishing answers", e);
        }
        finally
        {
            Interlocked.Add(ref _inFlight, -answered.Count);
            BackendMetrics.Flight(-answered.Count);
        }
    }

    // A task in any case: what cannot even be sent is treated as what was not acknowledged.
    private async Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events) =>
        await publisher.PublishAsync(answers, events, CancellationToken.None);

    [LoggerMessage(200, LogLevel.Warning, "{Count} answers could not be published; their commands will be delivered again")]
    private partial void PublishingFailed(int count);
}
