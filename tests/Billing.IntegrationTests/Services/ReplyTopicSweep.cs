using System.Globalization;
using Billing.Contracts;
using Billing.Messaging.Kafka;
using Confluent.Kafka;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.IntegrationTests.Services;

/// <summary>Which topics a starting proxy deletes, on a real Kafka: reply topics that are old and silent, and nothing else.
/// </summary>
[AnyPackages("which topics are deleted")]
[Collection(OverKafka.Name)]
public sealed class ReplyTopicSweep
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan LongAgo = KafkaTopics.SilenceMax * 4;

    private readonly KafkaStack _stack;
    private readonly KafkaTopics _topics;

    public ReplyTopicSweep(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
        _topics = new KafkaTopics(
            Options.Create(new KafkaOptions { BootstrapServers = stack.Stack.BootstrapServers! }), TimeProvider.System,
            NullLogger<KafkaTopics>.Instance);
    }

    [Fact]
    public async Task It_deletes_what_is_old_and_silent_and_nothing_else()
    {
        var others = Existing();
        var empty = await CreateAsync(LongAgo);
        var silent = await CreateAsync(LongAgo, lastHeard: KafkaTopics.SilenceMax + TimeSpan.FromMinutes(1));
        var living = await CreateAsync(LongAgo, lastHeard: KafkaTopics.HeartbeatInterval);
        var spokeOnce = await CreateAsync(LongAgo, LongAgo, KafkaTopics.SilenceMax - TimeSpan.FromMinutes(1));
        var young = await CreateAsync(KafkaTopics.SilenceMax - TimeSpan.FromMinutes(1));
        var madeByHand = await CreateAsync("made-by-hand-" + Guid.NewGuid().ToString("N"));

        await _topics.SweepReplyTopicsAsync();

        await UntilGoneAsync(empty, silent);
        Assert.Superset(new HashSet<string>([living, spokeOnce, young, madeByHand, .. others]), Existing());
        await Task.WhenAll(new[] { living, spokeOnce, young, madeByHand }.Select(_topics.DeleteReplyTopicAsync));
    }

    [Fact]
    public async Task Proxies_that_sweep_at_the_same_time_do_not_disturb_each_other()
    {
        var old = await Task.WhenAll(Enumerable.Range(0, 5).Select(_ => CreateAsync(LongAgo)));

        await Task.WhenAll(Enumerable.Range(0, 3).Select(_ => Task.Run(_topics.SweepReplyTopicsAsync)));

        await UntilGoneAsync(old);
    }

    private Task<string> CreateAsync(TimeSpan age, params TimeSpan[] lastHeard) => CreateAsync(
        (TimeProvider.System.GetUtcNow() - age).UtcDateTime.ToString("yyyyMMdd'T'HHmmss'Z'", CultureInfo.InvariantCulture)
        + "-" + Guid.NewGuid().ToString("N")[..8],
        lastHeard);

    private async Task<string> CreateAsync(string proxy, params TimeSpan[] lastHeard)
    {
        var topic = Topics.Replies(proxy);
        await _topics.CreateReplyTopicAsync(topic);
        using var producer = new ProducerBuilder<Null, byte[]>(
            new ProducerConfig { BootstrapServers = _stack.Stack.BootstrapServers, TopicMetadataPropagationMaxMs = 30_000 }).Build();
        foreach (var ago in lastHeard)
        {
            var at = new Timestamp((TimeProvider.System.GetUtcNow() - ago).UtcDateTime);
            await producer.ProduceAsync(topic, new Message<Null, byte[]> { Value = [], Timestamp = at });
        }
        return topic;
    }

    private async Task UntilGoneAsync(params string[] topics)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (Existing().Overlaps(topics))
        {
            Assert.True(TimeProvider.System.GetElapsedTime(start) < Patience, "Still there: " + string.Join(", ", Existing().Intersect(topics)));
            await Task.Delay(TimeSpan.FromMilliseconds(100));
        }
    }

    private HashSet<string> Existing()
    {
        using var admin = new AdminClientBuilder(new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers }).Build();
        return [.. admin.GetMetadata(Patience).Topics.Select(t => t.Topic)];
    }
}
