using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Billing.Simulation;
using Billing.Simulation.Kafka;
using Billing.UnitTests.Testing;
using Billing.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Messaging.Kafka;

/// <summary>Tests the turns of a consumer with the simulation's model of Kafka.</summary>
public sealed class CommandIntakeTests : IDisposable
{
    private const int InFlightMax = 10;

    private static readonly string Topic = Topics.Payments(PaymentType.Visa);

    private readonly Scheduler _scheduler;
    private readonly Brokers _brokers;
    private readonly RecordingHandler _handler = new();
    private readonly KafkaAnswerPublisher _publisher;
    private readonly ModelProducer _producer;
    private readonly ModelConsumer _consumer;
    private readonly CommandIntake _intake;
    private readonly TimeProvider _time;

    public CommandIntakeTests()
    {
        var dice = new Dice(1);
        _scheduler = new Scheduler(dice);
        _brokers = new Brokers(_scheduler, dice, partitions: 1);
        var node = new Billing.Simulation.Node("backend", _scheduler);
        _time = node.Time;
        _producer = new ModelProducer(_brokers, node, TimeSpan.Zero);
        _publisher = new KafkaAnswerPublisher(_producer, _producer, node.Time, NullLogger.Instance);
        (_intake, _consumer) = Join(node, _handler);
        TakeTurns(1);
    }

    public void Dispose()
    {
        _consumer.Dispose();
        _publisher.Dispose();
        _producer.Dispose();
    }

    [Fact]
    public void Invalid_records_count_towards_DrainMax_so_that_they_cannot_delay_commands_and_commits()
    {
        Send(CommandIntake.DrainMax + 500, "garbage"u8.ToArray());

        TakeTurns(1);

        Assert.Equal(CommandIntake.DrainMax, _intake.Tracked);
    }

    [Fact]
    public void Settled_commands_behind_an_unsettled_one_count_as_in_flight()
    {
        for (var wave = 0; wave < 10; wave++)
        {
            Send(InFlightMax, Samples.PaymentCommand().ToByteArray());
            TakeTurns(1);
            // All but the very first.
            _handler.Deliveries.Skip(1).ToList().ForEach(delivery => delivery.Settle());
            TakeTurns(1);
        }
        Assert.Equal(InFlightMax, _handler.Deliveries.Count);

        _handler.Deliveries[0].Settle();
        TakeTurns(3);

        Assert.Equal(10 * InFlightMax, _handler.Deliveries.Count);
    }

    [Fact]
    public void When_commands_take_all_their_memory_no_more_are_read_until_much_of_it_is_given_back()
    {
        _brokers.Group("group").Evict(_consumer);
        Send(30, Samples.PaymentCommand().ToByteArray());
        var (node, handler) = (new Billing.Simulation.Node("next", _scheduler), new RecordingHandler());
        var memory = new CommandMemory(bytesMax: 8000, bytesEach: 1000, copies: 0);
        var (intake, consumer) = Join(node, handler, 1000, memory);
        using (consumer)
        {
            Assert.Equal(8, Delivered());
            handler.Deliveries[0].Settle();
            handler.Deliveries[1].Abandon();
            Assert.Equal(8, Delivered());
            handler.Deliveries[2].Reject("poison");
            Assert.Equal(11, Delivered());
        }

        int Delivered()
        {
            for (var turn = 0; turn < 5; turn++)
            {
                intake.RunTurn(consumer);
                _scheduler.Run(TimeSpan.FromSeconds(1));
            }
            return handler.Deliveries.Count;
        }
    }

    [Fact]
    public void A_command_from_a_proxy_whose_clock_is_ahead_has_its_time_from_when_the_broker_appended_it()
    {
        var command = Samples.PaymentCommand();
        command.ReceivedUnixUs = UnixTime.Microseconds(_time.GetUtcNow().AddHours(1));
        command.DeadlineUnixUs = command.ReceivedUnixUs + 5_000_000;
        // The first moment of a run has the time 0, which is none.
        _scheduler.Run(TimeSpan.FromSeconds(1));
        _producer.Produce(Topic, new Message<string, byte[]>
        {
            Key = "acct-42",
            Value = command.ToByteArray(),
            Headers = WireHeaders.Version,
        });
        _scheduler.Run(TimeSpan.FromSeconds(1));

        TakeTurns(1);

        var delivery = Assert.Single(_handler.Deliveries);
        Assert.Equal(delivery.AppendedUnixUs + 5_000_000, delivery.DeadlineUnixUs);
    }

    [Fact]
    public void Offsets_that_restart_at_zero_are_tracked_from_there()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        _brokers.Find(Topic)![0].StartAgain();
        Send(2, Samples.PaymentCommand().ToByteArray());

        TakeTurns(3);
        _handler.Deliveries.ForEach(delivery => delivery.Settle());
        TakeTurns(1);
        _scheduler.Run(TimeSpan.FromSeconds(1));
        TakeTurns(1);

        Assert.Equal(7, _handler.Deliveries.Count);
        Assert.Equal(2, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
    }

    [Fact]
    public void A_damaged_record_is_waited_for_and_nothing_before_it_is_read_again()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        _consumer.Damaged = 5;
        Send(2, Samples.PaymentCommand().ToByteArray());

        TakeTurns(5);
        var meanwhile = _handler.Deliveries.Count;
        _consumer.Damaged = null;
        TakeTurns(2);

        Assert.Equal(5, meanwhile);
        Assert.Equal(7, _handler.Deliveries.Count);
    }

    [Fact]
    public void The_backlog_of_a_former_owner_is_handed_over_in_one_batch()
    {
        const int Backlog = (2 * CommandIntake.DrainMax) + 500;
        var second = new RecordingHandler();
        Send(Backlog, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        _brokers.Group("group").Evict(_consumer);

        var node = new Billing.Simulation.Node("next", _scheduler);
        var (intake, consumer) = Join(node, second, 2 * Backlog);
        using var _ = consumer;
        intake.RunTurn(consumer);
        intake.RunTurn(consumer);
        Assert.Empty(second.HandOvers);
        intake.RunTurn(consumer);
        Assert.Equal([Backlog], second.HandOvers);

        Send(1, Samples.PaymentCommand().ToByteArray());
        intake.RunTurn(consumer);
        Assert.Equal([Backlog, 1], second.HandOvers);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(0)]
    public void A_partition_fenced_for_too_long_or_started_over_is_read_again_under_another_assignment(int seconds)
    {
        Send(3, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        _handler.Deliveries[0].Settle();
        TakeTurns(1);
        _scheduler.Run(TimeSpan.FromSeconds(1));
        TakeTurns(1);
        var former = _handler.Deliveries[1].Assignment;
        if (seconds > 0)
        {
            former.Fence(_time.GetTimestamp());
            TakeTurns(1);
            Assert.Equal(3, _handler.Deliveries.Count);
            _scheduler.Run(TimeSpan.FromSeconds(seconds + 1));
        }
        else
        {
            former.Restart(_time.GetTimestamp());
        }
        TakeTurns(2);

        Assert.Equal(5, _handler.Deliveries.Count);
        Assert.All(_handler.Deliveries[3..], delivery => Assert.False(delivery.Assignment.IsOver));
        Assert.Equal(former.Partition, _handler.Deliveries[3].Assignment.Partition);
        _handler.Deliveries.ForEach(delivery => delivery.Settle());
        TakeTurns(1);
        _scheduler.Run(TimeSpan.FromSeconds(1));
        TakeTurns(1);
        Assert.Equal(3, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
    }

    [Fact]
    public void A_member_whose_client_has_lost_a_partition_without_a_word_ends_neither_at_a_turn_nor_at_its_revocation()
    {
        Send(3, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        Assert.Equal(3, _intake.Tracked);
        _consumer.Unassign();

        _handler.Deliveries[0].Settle();
        TakeTurns(1);
        _handler.Deliveries[1].Settle();
        _intake.Revoked(_consumer, [new TopicPartitionOffset(Topic, 0, 3)]);

        Assert.Equal(0, _intake.Tracked);
    }

    [Fact]
    public void A_member_that_dies_after_offsets_began_again_leaves_nothing_unread()
    {
        Send(20, Samples.PaymentCommand().ToByteArray());
        Settle();
        _brokers.Find(Topic)![0].StartAgain();
        Send(2, Samples.PaymentCommand().ToByteArray());
        Settle();

        Assert.Equal(30, DeliveredAfterTheDeath(than: 30));
    }

    [Fact]
    public void A_topic_made_again_that_has_grown_beyond_the_position_unseen_is_read_from_its_beginning()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        Settle();
        _brokers.MakeAgain(Topic);
        Send(8, Samples.PaymentCommand().ToByteArray());

        _scheduler.Run(TimeSpan.FromSeconds(6));
        TakeTurns(1);

        Assert.False(_intake.RunTurn(_consumer));
        Assert.Equal(8, DeliveredAfterTheDeath(than: 0));
    }

    [Fact]
    public void An_offset_of_a_former_topic_committed_too_late_leaves_nothing_unread()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        _brokers.MakeAgain(Topic);
        Settle();

        Assert.Equal(5, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
        Assert.Equal(8, DeliveredAfterTheDeath(than: 8));
    }

    /// <summary>The client and the member each ask for the group's offset; in between,
    /// the topic is made again.</summary>
    [Fact]
    public void A_topic_made_again_before_its_offset_could_be_queried_is_read_from_its_beginning()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        Settle();
        _brokers.Group("group").Evict(_consumer);
        var (node, second) = (new Billing.Simulation.Node("next", _scheduler), new RecordingHandler());
        var (intake, consumer) = Join(node, second, 1000);
        using (consumer)
        {
            _brokers.AwayUntil = _scheduler.Now + TimeSpan.FromSeconds(1).Ticks;
            intake.RunTurn(consumer);
            _brokers.MakeAgain(Topic);
            Send(8, Samples.PaymentCommand().ToByteArray());
            _scheduler.Run(TimeSpan.FromSeconds(1));
            Settle(intake, consumer, second);
        }

        Assert.Equal(8, second.Deliveries.Count);
        Assert.Equal(8, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
    }

    [Theory]
    [InlineData(null, 5)]
    [InlineData(0, 5)]
    [InlineData(2, 3)]
    [InlineData(50, 5)]
    public void Whatever_the_group_s_offset_says_nothing_is_left_unread(int? committed, int delivered)
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        Settle();
        _brokers.Group("group").Uncommit(new TopicPartition(Topic, 0));
        if (committed is { } offset)
        {
            _brokers.Group("group").Commit(new TopicPartitionOffset(Topic, 0, offset));
        }

        Assert.Equal(delivered, DeliveredAfterTheDeath(than: 0));
        Assert.Equal(5, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(1, true)]
    [InlineData(2, false)]
    [InlineData(2, true)]
    [InlineData(4, false)]
    [InlineData(4, true)]
    public void A_log_that_lost_its_end_and_has_grown_again_is_read_from_there(int grown, bool unseen)
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        Settle();
        _brokers.Find(Topic)![0].Truncate(2);
        Send(grown, Samples.PaymentCommand().ToByteArray());

        if (!unseen)
        {
            Settle();
        }

        Assert.Equal(grown, unseen ? DeliveredAfterTheDeath(than: 0) : _handler.Deliveries.Count - 5);
        Assert.Equal(3 + grown, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
    }

    [Fact]
    public void What_is_in_flight_before_the_cut_of_a_log_is_not_passed_over()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        TakeTurns(1);
        _brokers.Find(Topic)![0].Truncate(2);
        Send(4, Samples.PaymentCommand().ToByteArray());
        TakeTurns(2);
        Assert.Equal(9, _handler.Deliveries.Count);

        Assert.Equal(7, DeliveredAfterTheDeath(than: 0));
    }

    [Fact]
    public void Nothing_is_taken_from_a_log_that_began_again_until_that_is_committed()
    {
        Send(5, Samples.PaymentCommand().ToByteArray());
        Settle();
        _brokers.Find(Topic)![0].StartAgain();
        Send(2, Samples.PaymentCommand().ToByteArray());
        _brokers.CommitsRefusedUntil = _scheduler.Now + TimeSpan.FromSeconds(1).Ticks;
        TakeTurns(5);
        Assert.Equal(5, _handler.Deliveries.Count);

        _scheduler.Run(TimeSpan.FromSeconds(1));
        Settle();

        Assert.Equal(7, _handler.Deliveries.Count);
        Assert.Equal(2, _brokers.Group("group").Committed[new TopicPartition(Topic, 0)]);
    }

    private (CommandIntake Intake, ModelConsumer Consumer) Join(
        Billing.Simulation.Node node, ICommandHandler handler, int inFlightMax = InFlightMax,
        CommandMemory? memory = null)
    {
        var ids = new TopicIds(
            [Topic], topics => _brokers.IdsAsync(topics, node), KafkaTimes.TopicLook, node.Time, NullLogger.Instance);
        var positions = new GroupPositions(ids, ModelConsumer.SeekInLog, NullLogger.Instance);
        var intake = new CommandIntake(
            inFlightMax, memory ?? new CommandMemory(long.MaxValue, 0, 1), TimeSpan.FromSeconds(10), handler,
            _publisher, positions, _scheduler.Run, node.Time, NullLogger.Instance);
        var consumer = new ModelConsumer(
            _brokers, node, () => { }, _brokers.Group("group"),
            new RebalanceHandlers(intake.Assigned, intake.Revoked, intake.Lost));
        consumer.Subscribe([Topic]);
        return (intake, consumer);
    }

    // Kills the member, sends commands, and returns how many its successor takes.
    private int DeliveredAfterTheDeath(int than)
    {
        _brokers.Group("group").Evict(_consumer);
        Send(than, Samples.PaymentCommand().ToByteArray());
        var (node, second) = (new Billing.Simulation.Node("next", _scheduler), new RecordingHandler());
        var (intake, consumer) = Join(node, second, 1000);
        using (consumer)
        {
            Settle(intake, consumer, second);
        }
        return second.Deliveries.Count;
    }

    private void Settle() => Settle(_intake, _consumer, _handler);

    private void Settle(CommandIntake intake, ModelConsumer consumer, RecordingHandler handler)
    {
        for (var turn = 0; turn < 5; turn++)
        {
            intake.RunTurn(consumer);
            handler.Deliveries.ForEach(delivery => delivery.Settle());
            _scheduler.Run(TimeSpan.FromSeconds(0.6));
        }
        intake.RunTurn(consumer);
    }

    private void TakeTurns(int count)
    {
        for (var turn = 0; turn < count; turn++)
        {
            _intake.RunTurn(_consumer);
        }
    }

    private void Send(int count, byte[] value)
    {
        for (var record = 0; record < count; record++)
        {
            _brokers.Inject(Topic, "acct-42", value, "1");
        }
    }

    private sealed class RecordingHandler : ICommandHandler
    {
        public List<Delivery> Deliveries { get; } = [];

        public List<int> HandOvers { get; } = [];

        public int InFlight => 0;

        public void Accept(IReadOnlyList<Delivery> deliveries)
        {
            Deliveries.AddRange(deliveries);
            HandOvers.Add(deliveries.Count);
        }
    }
}
