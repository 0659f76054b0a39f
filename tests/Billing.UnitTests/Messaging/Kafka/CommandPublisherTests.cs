using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation;
using Billing.Simulation.Kafka;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class CommandPublisherTests : IDisposable
{
    private const int Partitions = 5;

    private readonly Scheduler _scheduler;
    private readonly Brokers _brokers;
    private readonly ProducerPair _producers;
    private readonly PendingReplies _pending;
    private readonly CommandPublisher _publisher;
    private readonly List<(int Partition, Command Command)> _appended = [];

    public CommandPublisherTests()
    {
        var dice = new Dice(1);
        _scheduler = new Scheduler(dice);
        _brokers = new Brokers(_scheduler, dice, Partitions)
        {
            Appended = (log, record) =>
                _appended.Add((log.Partition.Partition.Value, Command.Parser.ParseFrom(record.Value))),
        };
        var node = new Billing.Simulation.Node("proxy", _scheduler);
        _producers = new ProducerPair(
            new ModelProducer(_brokers, node, TimeSpan.Zero), new ModelProducer(_brokers, node, TimeSpan.Zero));
        var lastId = 0UL;
        _pending = new PendingReplies(node.Time, () => ++lastId);
        _publisher = new CommandPublisher(_producers, _pending, Samples.ReplyTopic);
    }

    public void Dispose()
    {
        _pending.Dispose();
        _producers.Dispose();
    }

    [Fact]
    public void The_partition_that_holds_a_command_is_told_when_it_is_stored()
    {
        var stored = Send(null);

        Assert.Equal(Assert.Single(_appended).Partition, stored);
    }

    [Fact]
    public void A_command_goes_to_the_partition_that_is_named_whatever_its_account()
    {
        for (var partition = 0; partition < Partitions; partition++)
        {
            Assert.Equal(partition, Send(partition));
        }
        Assert.Equal(Enumerable.Range(0, Partitions), _appended.Select(record => record.Partition));
    }

    [Fact]
    public void A_command_goes_to_the_partition_of_its_account_if_the_topic_does_not_have_the_one_that_is_named()
    {
        var own = Send(null);

        Assert.Equal(own, Send(Partitions));
        Assert.Equal(own, Send(int.MaxValue));
        Assert.Equal(3, _appended.Count);
        Assert.Equal(3, _pending.Count);
        // A partition that is not there says nothing of the producer: the next record is sent at once, as before.
        Assert.NotSame(_producers.Batching, _producers.Begin("next"));
    }

    private int? Send(int? partition)
    {
        int? told = null;
        _ = _publisher.SendAsync(Samples.PaymentRequest() with { Partition = partition }, stored => told = stored);
        _scheduler.Run(TimeSpan.FromSeconds(1));
        return told;
    }
}
