using Billing.Messaging.Kafka.Clients;
using Billing.Simulation;
using Billing.Simulation.Kafka;

namespace Billing.UnitTests.Messaging.Kafka;

public sealed class ProducerPairTests : IDisposable
{
    private readonly ModelProducer _batching;
    private readonly ModelProducer _prompt;
    private readonly ProducerPair _pair;
    private readonly ManualTime _time = new();

    public ProducerPairTests()
    {
        var dice = new Dice(1);
        var scheduler = new Scheduler(dice);
        var brokers = new Brokers(scheduler, dice, partitions: 1);
        var node = new Billing.Simulation.Node("proxy", scheduler);
        (_batching, _prompt) =
            (new ModelProducer(brokers, node, TimeSpan.Zero), new ModelProducer(brokers, node, TimeSpan.Zero));
        _pair = new ProducerPair(_batching, _prompt, _time);
    }

    public void Dispose() => _pair.Dispose();

    [Fact]
    public void A_record_is_sent_at_once_only_if_none_is_in_flight()
    {
        Assert.Same(_prompt, _pair.Begin("one"));
        Assert.Same(_batching, _pair.Begin("two"));
        _pair.End(_prompt, hasFailed: false);
        Assert.Same(_batching, _pair.Begin("three"));
        _pair.End(_batching, hasFailed: false);
        _pair.End(_batching, hasFailed: false);
        Assert.Same(_prompt, _pair.Begin("three"));
    }

    [Fact]
    public void Records_with_one_key_use_one_producer_while_one_of_them_is_in_flight()
    {
        Assert.Same(_prompt, _pair.Begin("one"));
        Assert.Same(_batching, _pair.Begin("two"));
        Assert.Same(_prompt, _pair.Begin("one"));
        _pair.End(_prompt, hasFailed: false);
        Assert.Same(_batching, _pair.Begin("two"));
        Assert.Same(_prompt, _pair.Begin("one"));
        _pair.End(_prompt, hasFailed: false);
        _pair.End(_prompt, hasFailed: false);
        // The others are still in flight: under load there is always one.
        Assert.Same(_batching, _pair.Begin("one"));
    }

    [Fact]
    public void After_the_prompt_producer_has_failed_to_send_a_record_no_other_has_to_wait_for_it_for_a_minute()
    {
        Assert.Same(_prompt, _pair.Begin("one"));
        _pair.End(_prompt, hasFailed: true);

        Assert.Same(_batching, _pair.Begin("one"));
        _pair.End(_batching, hasFailed: true);
        _time.Advance(TimeSpan.FromSeconds(59));
        Assert.Same(_batching, _pair.Begin("two"));
        _pair.End(_batching, hasFailed: false);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Same(_prompt, _pair.Begin("two"));
    }
}
