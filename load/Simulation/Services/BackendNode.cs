using Billing.Backends;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.Offsets;
using Billing.Simulation.Kafka;

namespace Billing.Simulation.Services;

/// <summary>The common part of payment and balance backends: a member of a consumer group, its handler, and the
/// publisher of its answers.</summary>
internal abstract class BackendNode
{
    // Commands that are larger than most take the memory before there are too many of them. A backend with less than
    // this would be slower than the callers that repeat their payments.
    private const int CommandBytes = 1000;
    private const int CommandsMin = 16;

    private readonly Brokers _brokers;
    private readonly CancellationTokenSource _stopping = new();
    private readonly KafkaAnswerPublisher _publisher;
    private CommandIntake? _intake;
    private ModelConsumer? _consumer;
    private TurnLoop? _turns;
    private Action? _join;

    protected BackendNode(Node node, Brokers brokers)
    {
        Node = node;
        _brokers = brokers;
        Producer = new ModelProducer(brokers, node, TimeSpan.Zero);
        Replies = new ModelProducer(brokers, node, KafkaTimes.Reply);
        _publisher = new KafkaAnswerPublisher(Producer, Replies, node.Time, PointLog<BackendNode>.Instance);
        Replier = new Replier(_publisher, node.Supervisor, PointLog<Replier>.Instance);
    }

    public Node Node { get; }

    /// <summary>Its producer of events.</summary>
    public ModelProducer Producer { get; }

    /// <summary>Its producer of replies.</summary>
    public ModelProducer Replies { get; }

    public Replier Replier { get; }

    /// <summary>Sends commands of the backend.</summary>
    protected IAnswerPublisher Publisher => _publisher;

    /// <summary>Number of offsets that the backend has read but not yet released for commit;
    /// -1 if it has not joined its group.</summary>
    public int Tracked => _intake?.Tracked ?? -1;

    protected CancellationToken Stopping => _stopping.Token;

    /// <summary>Starts a worker of the process.</summary>
    protected void Start(Worker worker) =>
        _ = Node.Supervisor.RunAsync(worker.GetType().Name, worker.RunAsync, Stopping);

    /// <summary>Joins the consumer group.</summary>
    protected void Join(IReadOnlyList<string> topics, string group, int inFlightMax, ICommandHandler handler)
    {
        _turns = new TurnLoop(_brokers.Scheduler, _brokers.Dice, Node, RunTurn);
        var memory = new CommandMemory(
            (long)Math.Max(inFlightMax, CommandsMin) * CommandBytes, bytesEach: 0, copies: 1);
        _join = () =>
        {
            var ids = new TopicIds(
                topics, asked => _brokers.IdsAsync(asked, Node), KafkaTimes.TopicLook,
                Node.Time, PointLog<BackendNode>.Instance);
            var positions = new GroupPositions(ids, ModelConsumer.SeekInLog, PointLog<BackendNode>.Instance);
            _intake = new CommandIntake(
                inFlightMax, memory, new KafkaOptions().FencedMax, handler, _publisher, positions, Node.Wait,
                Node.Time, PointLog<BackendNode>.Instance);
            _consumer = new ModelConsumer(
                _brokers, Node, _turns.Wake, _brokers.Group(group),
                new RebalanceHandlers(_intake.Assigned, _intake.Revoked, _intake.Lost));
            _consumer.Subscribe(topics);
        };
        _join();
        _turns.Wake();
    }

    /// <summary>Shuts the process down gracefully, as after SIGTERM.</summary>
    public void Stop() => _brokers.Scheduler.After(TimeSpan.Zero, Node, () =>
    {
        _turns?.End();
        if (_turns?.IsTaking == true)
        {
            // The thread checks only between two turns whether it has to stop.
            _brokers.Scheduler.After(TimeSpan.FromMilliseconds(5), Node, Stop);
            return;
        }
        if (_consumer is not null)
        {
            _intake!.Leave(_consumer);
            _consumer.Close();
        }
        _stopping.Cancel();
        // Time for its client to send what it flushes at the end.
        _brokers.Scheduler.After(TimeSpan.FromMilliseconds(200), null, Node.Crash);
    });

    private TimeSpan RunTurn()
    {
        if (!_intake!.RunTurn(_consumer!))
        {
            _intake.Leave(_consumer!);
            _consumer!.Close();
            _join!();
        }
        return TimeSpan.FromMilliseconds(_consumer!.HasMore ? 1 : _intake.Tracked > 0 ? 5 : 200);
    }
}
