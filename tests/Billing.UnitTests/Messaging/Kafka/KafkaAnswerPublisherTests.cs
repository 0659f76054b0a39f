using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation;
using Billing.Simulation.Kafka;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Messaging.Kafka;

/// <summary>Tests the publisher with the simulation's model of Kafka.</summary>
public sealed class KafkaAnswerPublisherTests : IDisposable
{
    private const string Proxy = "billing.replies.one";

    private readonly Scheduler _scheduler;
    private readonly Brokers _brokers;
    private readonly Billing.Simulation.Node _node;
    private readonly ModelProducer _producer;
    private readonly KafkaAnswerPublisher _publisher;

    public KafkaAnswerPublisherTests()
    {
        var dice = new Dice(1);
        _scheduler = new Scheduler(dice);
        _brokers = new Brokers(_scheduler, dice, partitions: 1);
        _brokers.Create(Proxy, 1);
        _node = new Billing.Simulation.Node("backend", _scheduler);
        _producer = new ModelProducer(_brokers, _node, TimeSpan.Zero);
        _publisher = new KafkaAnswerPublisher(new ProducerPair(_producer), _node.Time, NullLogger.Instance);
    }

    public void Dispose()
    {
        _publisher.Dispose();
        _producer.Dispose();
    }

    [Fact]
    public void Replies_to_one_proxy_are_batched_in_one_record()
    {
        var sent = Publish([Answer(1, 100), Answer(2, 100), Answer(3, 100)], []);

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Equal([1UL, 2UL, 3UL], Replies(Assert.Single(Records(Proxy))));
    }

    [Fact]
    public void Replies_too_large_for_one_record_are_sent_in_several_and_none_is_missing()
    {
        var answers = Enumerable.Range(1, 300).Select(n => Answer((ulong)n, 10_000)).ToList();

        var sent = Publish(answers, []);

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.InRange(Records(Proxy).Count, 6, 8);
        Assert.All(Records(Proxy), record => Assert.True(record.Value!.Length <= 520_000));
        Assert.Equal(answers.Select(a => a.Reply.CorrelationId), Records(Proxy).SelectMany(Replies));
    }

    [Fact]
    public void A_reply_too_large_for_the_brokers_is_dropped_and_the_others_arrive()
    {
        var sent = Publish([Answer(1, 2_000_000), Answer(2, 100)], []);

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Equal([2UL], Records(Proxy).SelectMany(Replies));
    }

    [Fact]
    public void A_reply_to_a_proxy_that_is_gone_is_dropped()
    {
        var sent = Publish([new Answer("billing.replies.gone", new Reply()), Answer(2, 100)], []);

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Equal([2UL], Records(Proxy).SelectMany(Replies));
    }

    [Fact]
    public void A_reply_waits_for_space_in_the_producers_queue()
    {
        _producer.FullUntil = TimeSpan.FromSeconds(1).Ticks;
        var sent = Publish([Answer(1, 100)], [], TimeSpan.FromMilliseconds(900));
        Assert.False(sent.IsCompleted);
        _scheduler.Run(TimeSpan.FromSeconds(1));

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Single(Records(Proxy));
    }

    [Fact]
    public void Nothing_is_published_after_an_event_that_failed()
    {
        _producer.FullUntil = TimeSpan.FromSeconds(1).Ticks;
        var first = Publish([], [new Event { StreamId = "visa/one", Version = 1 }]);
        _scheduler.Run(TimeSpan.FromSeconds(2));
        var second = Publish([], [new Event { StreamId = "visa/one", Version = 2 }]);

        Assert.IsType<KafkaException>(first.Exception!.InnerException);
        Assert.IsType<KafkaException>(second.Exception!.InnerException);
        Assert.Empty(Records(Topics.Events));
    }

    [Fact]
    public void Replies_are_sent_without_batching_only_if_nothing_is_in_flight_and_events_never()
    {
        var prompt = new ModelProducer(_brokers, _node, TimeSpan.Zero);
        using var publisher = new KafkaAnswerPublisher(new ProducerPair(_producer, prompt), _node.Time, NullLogger.Instance);
        Task PublishAsync(ulong id) => publisher.PublishAsync([Answer(id, 100)], [new Event { StreamId = "visa/one" }], CancellationToken.None);

        _node.Run(() => _ = PublishAsync(1));
        Assert.Equal((1, 1), (prompt.Produced, _producer.Produced));
        _node.Run(() => _ = PublishAsync(2));
        Assert.Equal((1, 3), (prompt.Produced, _producer.Produced));
        _scheduler.Run(TimeSpan.FromSeconds(1));
        _node.Run(() => _ = PublishAsync(3));
        Assert.Equal((2, 4), (prompt.Produced, _producer.Produced));
    }

    [Fact]
    public void A_failed_publication_is_no_longer_in_flight()
    {
        var prompt = new ModelProducer(_brokers, _node, TimeSpan.Zero);
        var producers = new ProducerPair(_producer, prompt);
        using var publisher = new KafkaAnswerPublisher(producers, _node.Time, NullLogger.Instance);
        _producer.FullUntil = TimeSpan.FromSeconds(1).Ticks;
        _node.Run(() =>
        {
            _ = publisher.PublishAsync([], [new Event { StreamId = "visa/one" }], CancellationToken.None);
            _ = publisher.PublishAsync([], [new Event { StreamId = "visa/one" }], CancellationToken.None);
        });
        _scheduler.Run(TimeSpan.FromSeconds(2));

        Assert.Same(prompt, producers.Begin());
    }

    [Fact]
    public void Events_wait_for_unavailable_brokers_without_a_time_limit()
    {
        _brokers.AwayUntil = TimeSpan.FromHours(1).Ticks;
        var sent = Publish([], [new Event { StreamId = "visa/one", Version = 1 }, new Event { StreamId = "visa/one", Version = 2 }]);
        Assert.False(sent.IsCompleted);
        _scheduler.Run(TimeSpan.FromHours(2));

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Equal([1L, 2L], Records(Topics.Events).Select(record => Event.Parser.ParseFrom(record.Value).Version));
    }

    private Task Publish(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, TimeSpan? within = null)
    {
        Task? sent = null;
        _node.Run(() => sent = _publisher.PublishAsync(answers, events, CancellationToken.None));
        _scheduler.Run(within ?? TimeSpan.FromSeconds(1));
        return sent!;
    }

    private List<StoredRecord> Records(string topic) => _brokers.Find(topic)!.Single().All;

    private static IEnumerable<ulong> Replies(StoredRecord record) =>
        ReplyBatch.Parser.ParseFrom(record.Value).Replies.Select(reply => reply.CorrelationId);

    private static Answer Answer(ulong correlationId, int bytes) => new(Proxy, new Reply
    {
        CorrelationId = correlationId,
        Error = new Wire.V1.Error { Message = new string('x', bytes) },
    });
}
