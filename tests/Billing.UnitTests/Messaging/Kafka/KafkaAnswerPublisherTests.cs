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
    private const string OtherProxy = "billing.replies.two";

    private readonly Scheduler _scheduler;
    private readonly Brokers _brokers;
    private readonly Billing.Simulation.Node _node;
    private readonly ModelProducer _events;
    private readonly ModelProducer _replies;
    private readonly KafkaAnswerPublisher _publisher;

    public KafkaAnswerPublisherTests()
    {
        var dice = new Dice(1);
        _scheduler = new Scheduler(dice);
        _brokers = new Brokers(_scheduler, dice, partitions: 1);
        _brokers.Create(Proxy, 1);
        _brokers.Create(OtherProxy, 1);
        _node = new Billing.Simulation.Node("backend", _scheduler);
        _events = new ModelProducer(_brokers, _node, TimeSpan.Zero);
        _replies = new ModelProducer(_brokers, _node, KafkaTimes.Reply);
        _publisher = new KafkaAnswerPublisher(_events, _replies, _node.Time, NullLogger.Instance);
    }

    public void Dispose()
    {
        _publisher.Dispose();
        _events.Dispose();
        _replies.Dispose();
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
        _replies.FullUntil = TimeSpan.FromSeconds(1).Ticks;
        var sent = Publish([Answer(1, 100)], [], TimeSpan.FromMilliseconds(900));
        Assert.False(sent.IsCompleted);
        _scheduler.Run(TimeSpan.FromSeconds(1));

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Single(Records(Proxy));
    }

    [Fact]
    public void Nothing_is_published_after_an_event_that_failed()
    {
        _events.FullUntil = TimeSpan.FromSeconds(1).Ticks;
        var first = Publish([], [new Event { StreamId = "visa/one", Version = 1 }]);
        _scheduler.Run(TimeSpan.FromSeconds(2));
        var second = Publish([], [new Event { StreamId = "visa/one", Version = 2 }]);

        Assert.IsType<KafkaException>(first.Exception!.InnerException);
        Assert.IsType<KafkaException>(second.Exception!.InnerException);
        Assert.Empty(Records(Topics.Events));
    }

    [Fact]
    public void While_a_reply_topic_fails_settlement_waits_until_its_replies_time_out_and_the_events_arrive()
    {
        _brokers.Stuck = (Proxy, TimeSpan.FromHours(1).Ticks);
        var sent = Publish(
            [Answer(1, 100), new Answer(OtherProxy, new Reply { CorrelationId = 2 })],
            [new Event { StreamId = "visa/one", Version = 1 }]);
        Assert.False(sent.IsCompleted);
        Assert.Single(Records(Topics.Events));
        Assert.Equal([2UL], Records(OtherProxy).SelectMany(Replies));
        _scheduler.Run(KafkaTimes.Reply);

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Empty(Records(Proxy));
    }

    [Fact]
    public void Events_wait_for_unavailable_brokers_without_a_time_limit()
    {
        _brokers.AwayUntil = TimeSpan.FromHours(1).Ticks;
        var sent = Publish(
            [], [new Event { StreamId = "visa/one", Version = 1 }, new Event { StreamId = "visa/one", Version = 2 }]);
        Assert.False(sent.IsCompleted);
        _scheduler.Run(TimeSpan.FromHours(2));

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Equal([1L, 2L], Records(Topics.Events).Select(record => Event.Parser.ParseFrom(record.Value).Version));
    }

    [Fact]
    public void A_reply_that_is_refused_again_and_again_is_dropped_when_its_caller_waits_no_longer()
    {
        _replies.FullUntil = TimeSpan.FromHours(1).Ticks;
        var sent = Publish([Answer(1, 100)], []);
        Assert.False(sent.IsCompleted);
        _scheduler.Run(KafkaTimes.Reply);

        Assert.True(sent.IsCompletedSuccessfully);
        Assert.Empty(Records(Proxy));
    }

    [Fact]
    public void An_error_that_will_not_pass_drops_a_reply_at_once_and_says_of_an_event_which_setting_mends_it()
    {
        using var publisher = new KafkaAnswerPublisher(
            new Refusing(ErrorCode.InvalidTimestamp),
            new Refusing(ErrorCode.InvalidTimestamp), _node.Time, NullLogger.Instance);

        Assert.True(publisher.PublishAsync([Answer(1, 100)], [], CancellationToken.None).IsCompletedSuccessfully);
        var failure = publisher.PublishAsync(
            [], [new Event { StreamId = "visa/one", Version = 1 }], CancellationToken.None).Exception!.InnerException!;

        Assert.StartsWith(Topics.Events, failure.Message, StringComparison.Ordinal);
        Assert.Contains("message.timestamp.type", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void While_dead_letters_are_refused_they_are_sent_ever_less_often_and_the_service_is_not_ready_and_says_why()
    {
        var refusing = new Refusing(ErrorCode.InvalidTimestamp);
        using var publisher = new KafkaAnswerPublisher(refusing, refusing, _node.Time, NullLogger.Instance);
        var settled = false;
        _node.Run(() => publisher.DeadLetters.Publish(new ConsumeResult<byte[], byte[]>
        {
            TopicPartitionOffset = new TopicPartitionOffset("billing.payments.visa", 0, 7),
            Message = new Message<byte[], byte[]> { Value = [1] },
        }, "unreadable", () => settled = true));
        Assert.Null(publisher.NotReadyReason);

        _scheduler.Run(TimeSpan.FromMinutes(5));
        Assert.InRange(refusing.Count, 8, 20);
        Assert.Contains(Topics.DeadLetters, publisher.NotReadyReason, StringComparison.Ordinal);
        Assert.Contains("message.timestamp.type", publisher.NotReadyReason, StringComparison.Ordinal);

        refusing.Code = ErrorCode.NoError;
        _scheduler.Run(TimeSpan.FromMinutes(1));
        Assert.True(settled);
        Assert.Null(publisher.NotReadyReason);
    }

    [Fact]
    public void Dead_letters_leave_room_in_the_producer_for_events()
    {
        var holding = new Holding();
        using var publisher = new KafkaAnswerPublisher(holding, holding, _node.Time, NullLogger.Instance);
        var settled = 0;
        for (var letter = 0; letter < 3; letter++)
        {
            _node.Run(() => publisher.DeadLetters.Publish(new ConsumeResult<byte[], byte[]>
            {
                TopicPartitionOffset = new TopicPartitionOffset("billing.payments.visa", 0, 7),
                Message = new Message<byte[], byte[]> { Value = new byte[4 << 20] },
            }, "unreadable", () => settled++));
        }
        Assert.Equal(2, holding.Held.Count);

        holding.Held[0](new DeliveryReport<string, byte[]> { Error = new Confluent.Kafka.Error(ErrorCode.NoError) });
        _scheduler.Run(TimeSpan.FromMinutes(1));

        Assert.Equal((3, 1), (holding.Held.Count, settled));
    }

    private sealed class Holding : PlainProducer
    {
        public List<Action<DeliveryReport<string, byte[]>>> Held { get; } = [];

        public override string Name => "holding";

        public override void Produce(
            TopicPartition topicPartition, Message<string, byte[]> message,
            Action<DeliveryReport<string, byte[]>>? deliveryHandler = null) => Held.Add(deliveryHandler!);
    }

    private sealed class Refusing(ErrorCode code) : PlainProducer
    {
        public ErrorCode Code { get; set; } = code;

        public int Count { get; private set; }

        public override string Name => "refusing";

        public override void Produce(
            TopicPartition topicPartition, Message<string, byte[]> message,
            Action<DeliveryReport<string, byte[]>>? deliveryHandler = null)
        {
            Count++;
            deliveryHandler!(new DeliveryReport<string, byte[]>
            {
                Topic = topicPartition.Topic,
                Partition = topicPartition.Partition,
                Message = message,
                Error = new Confluent.Kafka.Error(Code, Code.ToString()),
            });
        }
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
