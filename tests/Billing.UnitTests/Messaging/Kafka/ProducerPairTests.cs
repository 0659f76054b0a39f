using Billing.Messaging.Kafka.Clients;
using Billing.Simulation;
using Billing.Simulation.Kafka;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class ProducerPairTests : IDisposable
{
    private readonly ModelProducer _batching;
    private readonly ModelProducer _prompt;
    private readonly ProducerPair _pair;

    public ProducerPairTests()
    {
        var dice = new Dice(1);
        var scheduler = new Scheduler(dice);
        var brokers = new Brokers(scheduler, dice, partitions: 1);
        var node = new Billing.Simulation.Node("proxy", scheduler);
        (_batching, _prompt) = (new ModelProducer(brokers, node, TimeSpan.Zero), new ModelProducer(brokers, node, TimeSpan.Zero));
        _pair = new ProducerPair(_batching, _prompt);
    }

    public void Dispose() => _pair.Dispose();

    [Fact]
    public void A_record_is_sent_at_once_only_if_none_is_in_flight()
    {
        Assert.Same(_prompt, _pair.Begin("one"));
        Assert.Same(_batching, _pair.Begin("two"));
        _pair.End();
        Assert.Same(_batching, _pair.Begin("three"));
        _pair.End();
        _pair.End();
        Assert.Same(_prompt, _pair.Begin("three"));
    }

    [Fact]
    public void All_records_with_one_key_use_one_producer_until_none_is_in_flight()
    {
        Assert.Same(_prompt, _pair.Begin("one"));
        Assert.Same(_batching, _pair.Begin("two"));
        Assert.Same(_prompt, _pair.Begin("one"));
        _pair.End();
        Assert.Same(_batching, _pair.Begin("two"));
        Assert.Same(_prompt, _pair.Begin("one"));
    }
}
