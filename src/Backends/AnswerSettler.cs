using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.Backends;

/// <summary>The last step of every command: publish its answer and event, wait for the acknowledgement, and only then let
/// the transport forget it.</summary>
public sealed partial class AnswerSettler(IAnswerPublisher publisher, ILogger<AnswerSettler> logger)
{
    private int _inFlight;

    /// <summary>Commands entered and not yet settled.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Enters commands.</summary>
    public void Enter(int count) => Interlocked.Add(ref _inFlight, count);

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
        _ = SettleWhenSentAsync(publisher.PublishAsync(answers, events, CancellationToken.None), answered);
    }

    /// <summary>Answers commands that stay in flight: their callers need not wait for what may take long.</summary>
    public void Tell(IReadOnlyList<(Delivery Delivery, Reply Reply)> answered) => _ = publisher.PublishAsync(
        [.. answered.Select(a => new Answer(a.Delivery.Command.ProxyTopic, a.Reply))], [], CancellationToken.None);

    /// <summary>Puts a command aside that cannot be processed, and tells its sender, unless that was told before.</summary>
    public void Reject(Delivery delivery, string reason, Reply? error)
    {
        delivery.Reject(reason);
        Interlocked.Decrement(ref _inFlight);
        if (error is null)
        {
            return;
        }
        _ = publisher.PublishAsync([new Answer(delivery.Command.ProxyTopic, error)], [], CancellationToken.None);
    }

    private async Task SettleWhenSentAsync(Task sent, IReadOnlyList<(Delivery Delivery, Reply? Reply)> answered)
    {
        try
        {
            await sent;
            foreach (var (delivery, _) in answered)
            {
                delivery.Settle();
            }
        }
        catch (Exception e)
        {
            // Not settled: the commands come again, to this process or to the next, and find their receipts.
            PublishingFailed(e, answered.Count);
        }
        finally
        {
            Interlocked.Add(ref _inFlight, -answered.Count);
        }
    }

    [LoggerMessage(200, LogLevel.Error, "{Count} answers could not be published; their commands will be delivered again")]
    private partial void PublishingFailed(Exception e, int count);
}
