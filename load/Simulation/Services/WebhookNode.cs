using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Events;
using Billing.Messaging.Kafka.Offsets;
using Billing.Simulation.Kafka;
using Billing.Simulation.Receiving;
using Billing.Simulation.Store;
using Billing.Webhooks;
using Microsoft.Extensions.Options;

namespace Billing.Simulation.Services;

/// <summary>A webhook service, without its HTTP clients.</summary>
internal sealed class WebhookNode
{
    private static readonly TimeSpan RetryMax = TimeSpan.FromSeconds(10);

    private readonly Brokers _brokers;
    private readonly CancellationTokenSource _stopping = new();
    private readonly EventIntake _intake;
    private readonly Task _delivering;
    private readonly TurnLoop _turns;
    private GroupPositions _positions = null!;
    private EventTurns _reader = null!;
    private ModelConsumer _consumer = null!;
    private bool _isTaking;

    public WebhookNode(Node node, Brokers brokers, StoreServer database, PendingTables tables, Receivers receivers)
    {
        (Node, _brokers) = (node, brokers);
        var options = Options.Create(receivers.Options);
        var store = new PendingClient(node, database, tables);
        var deliveries = new Deliveries(
            store, options, receiver => receivers.Connect(node, receiver), node.Time,
            node.Supervisor, PointLog<Deliveries>.Instance);
        _intake = new EventIntake(store, deliveries, options, PointLog<EventIntake>.Instance);
        _delivering = node.Supervisor.RunAsync(nameof(Deliveries), deliveries.RunAsync, _stopping.Token);
        _turns = new TurnLoop(brokers.Scheduler, brokers.Dice, node, RunTurn);
        Join();
        _turns.Wake();
    }

    public Node Node { get; }

    /// <summary>Shuts the process down gracefully, as after SIGTERM.</summary>
    public void Stop() => _brokers.Scheduler.After(TimeSpan.Zero, Node, () =>
    {
        _turns.End();
        _consumer.Close();
        _stopping.Cancel();
        Node.Supervisor.Watch("stop", EndAsync());
    });

    private async Task EndAsync()
    {
        await _delivering;
        Node.Crash();
    }

    private void Join()
    {
        var ids = new TopicIds(
            [Topics.Events], asked => _brokers.IdsAsync(asked, Node),
            KafkaTimes.TopicLook, Node.Time, PointLog<WebhookNode>.Instance);
        var positions = _positions = new GroupPositions(ids, ModelConsumer.SeekInLog, PointLog<WebhookNode>.Instance);
        _reader = new EventTurns(positions, _intake, Node.Wait, PointLog<WebhookNode>.Instance);
        _consumer = new ModelConsumer(
            _brokers, Node, _turns.Wake, _brokers.Group(Groups.Webhooks), new RebalanceHandlers(
                positions.Assigned,
                (_, revoked) => positions.Forget(revoked.Select(offset => offset.TopicPartition)),
                lost => positions.Forget(lost.Select(offset => offset.TopicPartition))));
        _consumer.Subscribe([Topics.Events]);
    }

    // While events are taken over, the thread of the consumer waits.
    private TimeSpan RunTurn()
    {
        if (_isTaking)
        {
            return TimeSpan.FromSeconds(1);
        }
        if (_positions.AreOfFormerTopics)
        {
            _consumer.Close();
            Join();
        }
        if (_reader.Read(_consumer) is { } turn)
        {
            _isTaking = true;
            Node.Supervisor.Watch("events", TakeAsync(turn));
        }
        return TimeSpan.FromMilliseconds(!_isTaking && _consumer.HasMore ? 1 : 200);
    }

    private async Task TakeAsync(EventTurn turn)
    {
        for (var delay = TimeSpan.FromSeconds(1); ; delay = delay * 2 < RetryMax ? delay * 2 : RetryMax)
        {
            try
            {
                await _intake.TakeAsync(turn.Events, _stopping.Token);
                break;
            }
            catch (Npgsql.NpgsqlException)
            {
                await Task.Delay(delay, Node.Time, _stopping.Token);
            }
        }
        _isTaking = false;
        if (!_stopping.IsCancellationRequested)
        {
            _reader.Settle(_consumer, turn);
            _turns.Wake();
        }
    }
}
