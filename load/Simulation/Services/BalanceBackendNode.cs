using Billing.Backends.Balances;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation.Kafka;
using Billing.Simulation.Store;
using Confluent.Kafka;

namespace Billing.Simulation.Services;

/// <summary>A balance backend. It follows the events before it joins its consumer group.</summary>
internal sealed class BalanceBackendNode : BackendNode
{
    private readonly BalanceReadModel _model;
    private readonly ShardMap _map;
    private readonly EventReader _reader;
    private readonly ModelConsumer _events;
    private readonly TurnLoop _following;
    private readonly List<TopicPartition> _partitions;
    private readonly Action _join;
    private bool _follows;
    private bool _joined;

    public BalanceBackendNode(Node node, Brokers brokers, IReadOnlyList<StoreServer> databases, Settings settings)
        : base(node, brokers)
    {
        _map = StoreClient.MapOf(node, databases);
        var retry = new EventStoreRetry(node.Time, new Random(brokers.Dice.Seed()));
        var opened = Account.Opened(new OpeningLimits(settings.OpeningLimits));
        View = new BalanceView(opened, settings.ViewAccountsMax, node.Time);
        _model = new BalanceReadModel(
            View, _map, retry, settings.Backend, node.Supervisor, node.Time, PointLog<BalanceReadModel>.Instance);
        ReadDatabase[] stores = [.. databases.Select((database, index) =>
        {
            var history = new StoredHistory(node, database, opened);
            return new ReadDatabase(_map.Databases[index], history, history);
        })];
        var processor = new ReadProcessor(
            View, _map, stores, new SimulatedCardNetwork(settings.CardNetwork, node.Time), Replier, retry,
            settings.Backend, node.Supervisor, node.Time, PointLogs.Instance);
        Start(_model);
        Start(processor);
        _partitions = [.. brokers.Find(Topics.Events)!.Select(log => log.Partition)];
        _reader = new EventReader(_model, PointLog<BalanceBackendNode>.Instance);
        _following = new TurnLoop(brokers.Scheduler, brokers.Dice, node, RunTurn);
        _events = new ModelConsumer(brokers, node, _following.Wake);
        _join = () => Join(Topics.AllBalances, Groups.Balances, settings.InFlightMax, processor);
        _ = Node.Supervisor.RunAsync("Following", _ => FollowAsync(), Stopping);
    }

    /// <summary>The backend's view of the balances.</summary>
    public BalanceView View { get; }

    private async Task FollowAsync()
    {
        await _map.RefreshAsync();
        while (!TryNoteEnds())
        {
            await Task.Delay(TimeSpan.FromSeconds(1), Node.Time);
        }
        _model.Reset();
        _reader.Assign(_events);
        _follows = true;
        _following.Wake();
        if (!_joined)
        {
            _joined = true;
            _join();
        }
        // The supervised loop must not end. In the real follower it goes on to read events; here the turns do that.
        await Task.Delay(Timeout.InfiniteTimeSpan, Node.Time, Stopping);
    }

    private bool TryNoteEnds()
    {
        try
        {
            _reader.StoreEndOffsets(_events, _partitions);
            return true;
        }
        catch (KafkaException)
        {
            return false;
        }
    }

    private TimeSpan RunTurn()
    {
        if (_follows && !_reader.RunTurn(_events))
        {
            _follows = false;
            _events.Unassign();
            _ = Node.Supervisor.RunAsync("Following", _ => FollowAsync(), Stopping);
        }
        return TimeSpan.FromMilliseconds(_follows && _events.HasMore ? 1 : 500);
    }
}
