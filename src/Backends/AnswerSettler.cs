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
    public void Settle(IReadOnlyList<(Delivery Delivery, Reply Reply)> answered, IReadOnlyList<Event> events)
    {
        var sent = publisher.PublishAsync(
            answered.Select(a => new Answer(a.Delivery.Command.ProxyTopic, a.Reply)).ToList(), events, CancellationToken.None);
        _ = SettleWhenSentAsync(sent, answered);
    }

    /// <summary>Puts a command aside that cannot be processed, and tells its sender.</summary>
    public void Reject(Delivery delivery, Reply error)
    {
        delivery.Reject(error.Error.Message);
        Interlocked.Decrement(ref _inFlight);
        _ = publisher.PublishAsync([new Answer(delivery.Command.ProxyTopic, error)], [], CancellationToken.None);
    }

    private async Task SettleWhenSentAsync(Task sent, IReadOnlyList<(Delivery Delivery, Reply Reply)> answered)
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
