using Billing.Backends;
using Billing.Messaging;
using Billing.Messaging.Hosting;
using Billing.Messaging.Kafka;
using Billing.Simulation.Kafka;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.Simulation.Services;

/// <summary>What payment and balance backends have in common: a member of a consumer group, a handler, and where its answers
/// go.</summary>
internal abstract class BackendNode
{
    private readonly Scheduler _scheduler;
    private readonly Dice _dice;
    private readonly Brokers _brokers;
    private readonly CancellationTokenSource _stopping = new();
    private CommandIntake? _intake;
    private ModelConsumer? _consumer;
    private TurnLoop? _turns;

    protected BackendNode(Node node, Scheduler scheduler, Dice dice, Brokers brokers)
    {
        Node = node;
        _scheduler = scheduler;
        _dice = dice;
        _brokers = brokers;
        Producer = new ModelProducer(brokers, node, TimeSpan.Zero);
        Publisher = new KafkaAnswerPublisher(Producer.Pair(), node.Time, NullLogger.Instance);
        Settler = new AnswerSettler(Publisher, node.Supervisor, NullLogger<AnswerSettler>.Instance);
    }

    public Node Node { get; }

    public ModelProducer Producer { get; }

    public AnswerSettler Settler { get; }

    /// <summary>Offsets that the backend has read and not passed; -1 where it is not in its group.</summary>
    public int Tracked => _intake?.Tracked ?? -1;

    protected KafkaAnswerPublisher Publisher { get; }

    protected CancellationToken Stopping => _stopping.Token;

    /// <summary>Runs a loop of the process.</summary>
    protected void Start(Worker worker) => _ = Node.Supervisor.RunAsync(worker.GetType().Name, worker.RunAsync, Stopping);

    /// <summary>Joins the group.</summary>
    protected void Join(IReadOnlyList<string> topics, string group, int inFlightMax, ICommandHandler handler)
    {
        _intake = new CommandIntake(inFlightMax, handler, Publisher, Node.Wait, Node.Time, NullLogger.Instance);
        _turns = new TurnLoop(_scheduler, _dice, Node, TakeTurn);
        _consumer = new ModelConsumer(
            _brokers, Node, _turns.Wake, _brokers.Group(group), new RebalanceHandlers(_intake.Assigned, _intake.Revoked, _intake.Lost));
        _consumer.Subscribe(topics);
        _turns.Wake();
    }

    /// <summary>Ends the process in good order, as after SIGTERM.</summary>
    public void Stop() => _scheduler.After(TimeSpan.Zero, Node, () =>
    {
        _turns?.End();
        if (_turns?.IsTaking == true)
        {
            // The thread looks whether it is to stop between two turns.
            _scheduler.After(TimeSpan.FromMilliseconds(5), Node, Stop);
            return;
        }
        if (_consumer is not null)
        {
            _intake!.Leave(_consumer);
            _consumer.Close();
        }
        _stopping.Cancel();
        // What its client still sends within the bound of its flush.
        _scheduler.After(TimeSpan.FromMilliseconds(200), null, Node.Crash);
    });

    private TimeSpan TakeTurn()
    {
        _intake!.TakeTurn(_consumer!);
        return TimeSpan.FromMilliseconds(_consumer!.HasMore ? 1 : _intake.Tracked > 0 ? 5 : 200);
    }
}
