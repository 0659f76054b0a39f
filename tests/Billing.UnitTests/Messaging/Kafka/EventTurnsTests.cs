using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Events;
using Billing.Messaging.Kafka.Offsets;
using Billing.Simulation;
using Billing.Simulation.Kafka;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Messaging.Kafka;

/// <summary>Tests the turns of a reader of events with the simulation's model of Kafka.</summary>
public sealed class EventTurnsTests : IDisposable
{
    private readonly Brokers _brokers;
    private readonly ModelConsumer _consumer;
    private readonly EventTurns _turns;
    private readonly List<Event> _taken = [];

    public EventTurnsTests()
    {
        var dice = new Dice(1);
        var scheduler = new Scheduler(dice);
        _brokers = new Brokers(scheduler, dice, partitions: 1);
        var node = new Billing.Simulation.Node("webhooks", scheduler);
        var ids = new TopicIds(
            [Topics.Events], topics => _brokers.IdsAsync(topics, node),
            KafkaTimes.TopicLook, node.Time, NullLogger.Instance);
        var positions = new GroupPositions(ids, ModelConsumer.SeekInLog, NullLogger.Instance);
        _turns = new EventTurns(positions, new Sink(), scheduler.Run, NullLogger.Instance);
        _consumer = new ModelConsumer(_brokers, node, () => { }, _brokers.Group("group"), new RebalanceHandlers(
            positions.Assigned,
            (_, revoked) => positions.Forget(revoked.Select(offset => offset.TopicPartition)), _ => { }));
        _consumer.Subscribe([Topics.Events]);
        Take(turns: 1);
    }

    public void Dispose() => _consumer.Dispose();

    [Fact]
    public void A_damaged_event_is_waited_for_and_none_before_it_is_read_again()
    {
        Publish(first: 1, count: 5);
        Take(turns: 1);
        _consumer.Damaged = 5;
        Publish(first: 6, count: 2);

        Take(turns: 5);
        var meanwhile = _taken.Count;
        _consumer.Damaged = null;
        Take(turns: 2);

        Assert.Equal(5, meanwhile);
        Assert.Equal(Enumerable.Range(1, 7), _taken.Select(taken => (int)taken.Version));
    }

    [Fact]
    public void A_turn_takes_few_large_events()
    {
        Publish(first: 1, count: 8, notes: new string('n', EventReader.DrainBytesMax / 4));

        Take(turns: 1);

        Assert.Equal(4, _taken.Count);
        Take(turns: 1);
        Assert.Equal(8, _taken.Count);
    }

    private void Publish(int first, int count, string notes = "")
    {
        foreach (var version in Enumerable.Range(first, count))
        {
            var recorded = new Event
            {
                StreamId = "visa/acct-1",
                Version = version,
                TransactionId = Guid.NewGuid().ToString(),
                Balance = Samples.Dollars(version),
                Notes = new Billing.V1.PaymentNotes { Reference = notes },
            };
            _brokers.Inject(Topics.Events, recorded.StreamId, recorded.ToByteArray(), "1");
        }
    }

    private void Take(int turns)
    {
        for (var turn = 0; turn < turns; turn++)
        {
            _taken.AddRange(_turns.Read(_consumer)?.Events ?? []);
        }
    }

    private sealed class Sink : IEventSink
    {
        public Task TakeAsync(IReadOnlyList<Event> events, CancellationToken cancellationToken) => Task.CompletedTask;

        public void Miss(long count) => throw new InvalidOperationException($"{count} events were missed.");
    }
}
