using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Microsoft.Extensions.Hosting.Internal;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.IntegrationTests.Services;

/// <summary>A proxy's transport that ends while it waits to create its deleted reply topic
/// again, on a real Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class ReplyTopicRestoration : IDisposable
{
    private readonly KafkaOptions _options;
    private readonly ManualTime _time = new();
    private readonly PendingReplies _pending = new(TimeProvider.System);
    private readonly Supervisor _supervisor = new(
        new ApplicationLifetime(NullLogger<ApplicationLifetime>.Instance), NullLogger<Supervisor>.Instance);

    public ReplyTopicRestoration(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _options = new KafkaOptions { BootstrapServers = stack.Stack.BootstrapServers! };
    }

    public void Dispose()
    {
        _supervisor.Dispose();
        _pending.Dispose();
    }

    [Fact]
    public async Task A_transport_that_is_disposed_without_having_been_stopped_restores_nothing_and_sends_no_heartbeat()
    {
        var topics = new KafkaTopics(Options.Create(_options), TimeProvider.System, NullLogger<KafkaTopics>.Instance);
        using var transport = new KafkaRequestTransport(
            Options.Create(_options), topics, _pending, _supervisor, _time, NullLogger<KafkaRequestTransport>.Instance);
        await UntilAsync(transport.StartAsync(CancellationToken.None));
        await topics.DeleteReplyTopicAsync(transport.ReplyTopic);
        await Poll.UntilAsync(() => _time.Delays[^1] == TimeSpan.FromSeconds(1), TestContext.Current.CancellationToken);

        transport.Dispose();

        Assert.False(_time.HasTimers);
        Assert.True(_supervisor.IsHealthy);
    }

    // Fires the first heartbeat, which is due at once.
    private async Task UntilAsync(Task started)
    {
        await Poll.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.Zero);
                return started.IsCompleted;
            },
            TestContext.Current.CancellationToken);
        await started;
    }
}
