using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Proxy.Calls;
using Billing.Simulation.Kafka;
using Billing.Wire.V1;
using Confluent.Kafka;
using Grpc.Core;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.Simulation.Services;

/// <summary>A proxy, without its gRPC and REST servers: from the command sender to the Kafka clients.</summary>
internal sealed class ProxyNode
{
    private readonly Node _node;
    private readonly CommandSender _sender;
    private readonly ReplyReader _replies;
    private readonly ModelConsumer _consumer;
    private readonly TurnLoop _turns;

    public ProxyNode(Node node, Scheduler scheduler, Dice dice, Brokers brokers, long lastCorrelationId)
    {
        _node = node;
        ReplyTopic = Topics.Replies(node.Name);
        brokers.Create(ReplyTopic, 1);
        Pending = new PendingReplies(node.Time, lastCorrelationId);
        Producer = new ModelProducer(brokers, node, TimeSpan.FromSeconds(30));
        _sender = new CommandSender(new CommandPublisher(Producer.Pair(), Pending, ReplyTopic), Settings.Proxy, node.Time);
        _replies = new ReplyReader(Pending, NullLogger.Instance);
        _turns = new TurnLoop(scheduler, dice, node, RunTurn);
        _consumer = new ModelConsumer(brokers, node, _turns.Wake);
        _consumer.Assign(new TopicPartitionOffset(ReplyTopic, 0, 0));
        _turns.Wake();
    }

    public Node Node => _node;

    public string ReplyTopic { get; }

    public PendingReplies Pending { get; }

    public ModelProducer Producer { get; }

    /// <summary>Makes a call to the proxy, as a client does.</summary>
    /// <returns>The reply, or the failure that the caller sees; UNAVAILABLE if the proxy crashes.</returns>
    public Task<Reply> CallAsync(Command command, TimeSpan deadline) =>
        ServeAsync(() => _sender.SendAsync(command, Within(deadline)));

    /// <summary>Sends a command through the proxy without waiting for its reply.</summary>
    /// <returns>Whether the brokers have acknowledged it; or the failure that the caller sees.</returns>
    public Task<bool> TakeAsync(Command command, TimeSpan deadline) => ServeAsync(async () =>
    {
        // Without RunContinuationsAsynchronously: the waiter must continue on the simulation's thread, not on another one.
        var queued = new TaskCompletionSource();
        await await Task.WhenAny(queued.Task, _sender.SendQueuedAsync(command, Within(deadline), () => queued.TrySetResult()));
        return queued.Task.IsCompleted;
    });

    private CallerDeadline Within(TimeSpan deadline) => new(_node.Time.GetTimestamp(), deadline);

    private Task<T> ServeAsync<T>(Func<Task<T>> serve)
    {
        var call = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        void Crashed() => call.TrySetException(new RpcException(new Status(StatusCode.Unavailable, "the proxy is gone")));
        if (!_node.IsAlive)
        {
            Crashed();
            return call.Task;
        }
        _node.OnCrash(Crashed);
        _node.Run(() => _ = RunAsync());
        return call.Task;

        async Task RunAsync()
        {
            try
            {
                call.TrySetResult(await serve());
            }
            catch (Exception e)
            {
                call.TrySetException(e);
            }
            _node.Forget(Crashed);
        }
    }

    private TimeSpan RunTurn()
    {
        while (_consumer.Consume(TimeSpan.Zero) is { } record)
        {
            _replies.Take(record.Message.Value);
        }
        return TimeSpan.FromMilliseconds(500);
    }
}
