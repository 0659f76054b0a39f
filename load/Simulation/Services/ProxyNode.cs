using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.Simulation.Kafka;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Services;

/// <summary>A proxy, without its gRPC and REST servers: from the request handler to the Kafka clients.</summary>
internal sealed class ProxyNode
{
    private static readonly Caller Client = new("client");

    private readonly RequestHandler _handler;
    private readonly ReplyReader _replies;
    private readonly ModelConsumer _consumer;
    private readonly TurnLoop _turns;
    private int _queries;

    public ProxyNode(Node node, Brokers brokers, long lastCorrelationId)
    {
        Node = node;
        ReplyTopic = Topics.Replies(node.Name);
        brokers.Create(ReplyTopic, 1);
        Pending = new PendingReplies(node.Time, lastCorrelationId);
        Producer = new ModelProducer(brokers, node, TimeSpan.FromSeconds(30));
        _handler = new RequestHandler(
            new CommandPublisher(new ProducerPair(Producer, Producer.Another()), Pending, ReplyTopic),
            new Admission(Settings.Proxy, Settings.Limits, node.Time),
            Settings.Proxy, node.Time, newId: () => new Guid(++_queries, 0, 0, new byte[8]).ToString());
        _replies = new ReplyReader(Pending, PointLog<ProxyNode>.Instance);
        _turns = new TurnLoop(brokers.Scheduler, brokers.Dice, node, RunTurn);
        _consumer = new ModelConsumer(brokers, node, _turns.Wake);
        _consumer.Assign(new TopicPartitionOffset(ReplyTopic, 0, 0));
        _turns.Wake();
    }

    public Node Node { get; }

    public string ReplyTopic { get; }

    public PendingReplies Pending { get; }

    public ModelProducer Producer { get; }

    /// <summary>Makes a call to the proxy, as a client does.</summary>
    /// <returns>The answer, or the failure that the caller sees; UNAVAILABLE if the proxy crashes.</returns>
    public Task<TAnswer> CallAsync<TRequest, TAnswer>(RequestKind<TRequest, TAnswer> kind, TRequest request, TimeSpan deadline)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class =>
        ServeAsync(async () => (await _handler.HandleAsync(kind, request, Within(deadline))).Value);

    /// <summary>Sends a payment through the proxy without waiting for its answer.</summary>
    /// <returns>The partition of which the brokers have acknowledged it; null if it was answered before; or the failure that the caller sees.
    /// </returns>
    public Task<int?> TakeAsync(MakePaymentRequest payment, TimeSpan deadline) => ServeAsync(async () =>
    {
        // Without RunContinuationsAsynchronously: the waiter must continue on the simulation's thread, not on another one.
        var stored = new TaskCompletionSource<int?>();
        var answered = _handler.HandleStoredAsync(RequestKinds.Payment, payment, Within(deadline), partition => stored.TrySetResult(partition));
        await Task.WhenAny(stored.Task, answered);
        return stored.Task.IsCompleted ? await stored.Task
            : (await answered).Failure is { } failure ? throw new FailureException(failure)
            : null;
    });

    /// <summary>Asks the proxy what has become of a payment that was sent so, as who follows its link does.</summary>
    public Task<PaymentStatus> AskAsync(PaymentStatusRequest question, int partition, TimeSpan deadline) =>
        ServeAsync(async () => (await _handler.HandleAsync(RequestKinds.PaymentStatus, question, Within(deadline) with { Partition = partition })).Value);

    private IncomingCall Within(TimeSpan deadline) => new(Client, new CallerDeadline(Node.Time.GetTimestamp(), deadline), CancellationToken.None);

    private Task<T> ServeAsync<T>(Func<Task<T>> serve)
    {
        var call = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        void Crashed() => call.TrySetException(new FailureException(new Failure(StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "the proxy is gone")));
        if (!Node.IsAlive)
        {
            Crashed();
            return call.Task;
        }
        Node.OnCrash(Crashed);
        Node.Run(() => _ = RunAsync());
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
            Node.Forget(Crashed);
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
