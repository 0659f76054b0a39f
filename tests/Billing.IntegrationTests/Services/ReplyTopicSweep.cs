using System.Globalization;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.IntegrationTests.Services;

/// <summary>The clean-up by a starting proxy, on a real Kafka: it deletes old reply topics without recent heartbeats,
/// and nothing else.</summary>
[Collection(OverKafka.Name)]
public sealed class ReplyTopicSweep
{
    private static readonly TimeSpan LongAgo = KafkaTimes.ReplyTopicSilent * 4;

    private readonly KafkaStack _stack;
    private readonly KafkaTopics _topics;

    // Ages do not change while sweeps are repeated.
    private readonly ManualTime _time = new();

    public ReplyTopicSweep(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
        _time.Set(TimeProvider.System.GetUtcNow() - _time.GetUtcNow());
        _topics = TopicsOf("");
    }

    [Fact]
    public async Task Only_old_reply_topics_without_recent_heartbeats_are_deleted()
    {
        var others = Existing();
        var empty = await CreateAsync(LongAgo);
        var silent = await CreateAsync(LongAgo, heartbeats: KafkaTimes.ReplyTopicSilent + TimeSpan.FromMinutes(1));
        var alive = await CreateAsync(LongAgo, heartbeats: KafkaTimes.ReplyTopicHeartbeat);
        var lateHeartbeat = await CreateAsync(LongAgo, LongAgo, KafkaTimes.ReplyTopicSilent - TimeSpan.FromMinutes(1));
        var young = await CreateAsync(KafkaTimes.ReplyTopicSilent - TimeSpan.FromMinutes(1));
        var otherName = await CreateAsync("made-by-hand-" + Guid.NewGuid().ToString("N"));

        await SweepUntilDeletedAsync(_topics, 1, empty, silent);

        string[] kept = [alive, lateHeartbeat, young, otherName, .. others];
        Assert.Empty(kept.Except(Existing()));
        await Task.WhenAll(new[] { alive, lateHeartbeat, young, otherName }.Select(_topics.DeleteReplyTopicAsync));
    }

    [Fact]
    public async Task Concurrent_sweeps_of_several_proxies_do_not_affect_each_other()
    {
        var old = await Task.WhenAll(Enumerable.Range(0, 5).Select(_ => CreateAsync(LongAgo)));

        await SweepUntilDeletedAsync(_topics, 3, old);
    }

    [Fact]
    public async Task A_proxy_with_a_name_deletes_the_old_topics_of_that_name_and_leaves_those_of_others()
    {
        var name = "proxy-" + Guid.NewGuid().ToString("N")[..8];
        var own = await CreateAsync(name + "." + Id(LongAgo));
        var longer = await CreateAsync(name + "0." + Id(LongAgo));
        var unnamed = await CreateAsync(LongAgo);

        await SweepUntilDeletedAsync(TopicsOf(name), 1, own);
        Assert.Empty(new[] { longer, unnamed }.Except(Existing()));
        await SweepUntilDeletedAsync(_topics, 1, unnamed);

        Assert.Contains(longer, Existing());
        await _topics.DeleteReplyTopicAsync(longer);
    }

    private KafkaTopics TopicsOf(string proxy) => new(
        Options.Create(new KafkaOptions { BootstrapServers = _stack.Stack.BootstrapServers!, ProxyName = proxy }),
        _time, NullLogger<KafkaTopics>.Instance);

    private Task<string> CreateAsync(TimeSpan age, params TimeSpan[] heartbeats) => CreateAsync(Id(age), heartbeats);

    private string Id(TimeSpan age) =>
        (_time.GetUtcNow() - age).UtcDateTime.ToString("yyyyMMdd'T'HHmmss'Z'", CultureInfo.InvariantCulture)
        + "-" + Guid.NewGuid().ToString("N")[..8];

    private async Task<string> CreateAsync(string proxy, params TimeSpan[] heartbeats)
    {
        var topic = Topics.Replies(proxy);
        await _topics.CreateReplyTopicAsync(topic);
        if (heartbeats.Length > 0)
        {
            // The records are to be old.
            await _stack.SetTopicAsync(topic, "message.timestamp.type", "CreateTime");
        }
        using var producer = KafkaClients.Producer<Null, byte[]>(
            new ProducerConfig
            {
                BootstrapServers = _stack.Stack.BootstrapServers,
                TopicMetadataPropagationMaxMs = 30_000,
            });
        foreach (var ago in heartbeats)
        {
            var at = new Timestamp((_time.GetUtcNow() - ago).UtcDateTime);
            await producer.ProduceAsync(topic, new Message<Null, byte[]> { Value = [], Timestamp = at });
        }
        return topic;
    }

    // A sweep skips a topic that the brokers do not answer for in time, such as a new one on a busy machine;
    // a later sweep, of the next proxy that starts, deletes it.
    private async Task SweepUntilDeletedAsync(KafkaTopics sweeper, int concurrently, params string[] topics)
    {
        var start = TimeProvider.System.GetTimestamp();
        string[] left = topics;
        do
        {
            Assert.True(
                TimeProvider.System.GetElapsedTime(start) < Patience, "Not deleted: " + string.Join(", ", left));
            await Task.WhenAll(Enumerable.Range(0, concurrently).Select(_ => Task.Run(sweeper.SweepReplyTopicsAsync)));
            left = [.. Existing().Intersect(topics)];
        }
        while (left.Length > 0);
    }

    private HashSet<string> Existing()
    {
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        return [.. admin.GetMetadata(Patience).Topics.Select(t => t.Topic)];
    }
}
