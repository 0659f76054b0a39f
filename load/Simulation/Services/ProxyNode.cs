using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Memory;
using Billing.Simulation.Doors;
using Billing.Simulation.Kafka;
using Billing.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Services;

/// <summary>A proxy, without its servers: from its REST routes and gRPC services to the Kafka clients.</summary>
internal sealed class ProxyNode
{
    // As much as it takes: what a machine has must not change what a seed does.
    private static readonly MemoryBudget Machine = new(64L << 30);

    private readonly ProxyDoors _doors;
    private readonly ReplyReader _replies;
    private readonly ModelConsumer _consumer;
    private readonly TurnLoop _turns;
    private int _queries;

    public ProxyNode(Node node, Brokers brokers, long lastCorrelationId)
    {
        Node = node;
        ReplyTopic = Topics.Replies(node.Name);
        brokers.Create(ReplyTopic, 1);
        Pending = new PendingReplies(node.Time, () => (ulong)++lastCorrelationId);
        Producer = new ModelProducer(brokers, node, TimeSpan.FromSeconds(30));
        var admission = new Admission(
            Settings.Proxy, Settings.Limits, node.Time, new ProxyMemory(Machine, Settings.Proxy));
        var handler = new RequestHandler(
            new CommandPublisher(new ProducerPair(Producer, Producer.Another()), Pending, ReplyTopic), admission,
            Settings.Proxy, node.Time, newId: () => new Guid(++_queries, 0, 0, new byte[8]).ToString());
        _doors = new ProxyDoors(handler, admission, Settings.Proxy, node.Time);
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

    private DateTime WallClock => Node.Time.WallClock().GetUtcNow().UtcDateTime;

    /// <summary>Makes a call to the proxy, as a client does.</summary>
    /// <returns>The answer, or the failure that the caller sees; UNAVAILABLE if the proxy crashes.</returns>
    public Task<TAnswer> CallAsync<TRequest, TAnswer>(
        Ask<TRequest, TAnswer> ask, Door door, TRequest request, Letters letters, TimeSpan deadline)
        where TRequest : class, IMessage<TRequest>, new()
        where TAnswer : class, IMessage<TAnswer>, new() =>
        ServeAsync(() => ask.MakeAsync(_doors, door, request, letters, deadline, WallClock));

    /// <summary>Makes a gRPC call to the proxy.</summary>
    /// <returns>The answer, or the failure that the caller sees; UNAVAILABLE if the proxy crashes.</returns>
    public Task<object> CallAsync(object request, TimeSpan deadline) =>
        ServeAsync(() => Asks.Of(request.GetType()).ServeAsync(_doors, request, WallClock + deadline));

    /// <summary>Makes a REST request to the proxy.</summary>
    /// <returns>The answer, or UNAVAILABLE if the proxy crashes.</returns>
    public Task<RestAnswer> CallAsync(RestAsk ask) => ServeAsync(() => _doors.AnswerAsync(ask));

    /// <summary>Opens a stream of payments. What has no answer when it ends has failed.</summary>
    public async Task StreamAsync(PaymentsStream stream)
    {
        try
        {
            await ServeAsync(async () =>
            {
                await _doors.Errors.DuplexStreamingServerHandler(
                    stream, stream, new GrpcCall(nameof(_doors.Billing.MakePayments), DateTime.MaxValue),
                    _doors.Billing.MakePayments);
                return true;
            });
            stream.End(new SimulationException("a stream has ended without an answer to each of its payments"));
        }
        catch (RpcException e)
        {
            stream.End(new FailureException(GrpcFailures.Of(e)));
        }
        catch (FailureException e)
        {
            stream.End(e);
        }
    }

    /// <summary>Reads a statement as a stream.</summary>
    /// <returns>Its entries, or the failure that the caller sees.</returns>
    public async Task<List<StatementEntry>> StreamAsync(ListStatementRequest request, TimeSpan deadline)
    {
        var writer = new StatementWriter();
        try
        {
            await StreamAsync(request, writer, WallClock + deadline);
        }
        catch (RpcException e)
        {
            throw new FailureException(GrpcFailures.Of(e));
        }
        return writer.Entries;
    }

    /// <summary>Reads a statement as a stream, page after page.</summary>
    public Task StreamAsync(
        ListStatementRequest request, IServerStreamWriter<ListStatementResponse> pages, DateTime deadline) =>
        ServeAsync(async () =>
        {
            await _doors.Errors.ServerStreamingServerHandler(
                ListStatementRequest.Parser.ParseFrom(request.ToByteArray()), pages,
                new GrpcCall(nameof(_doors.Billing.StreamStatement), deadline), _doors.Billing.StreamStatement);
            return true;
        });

    private Task<T> ServeAsync<T>(Func<Task<T>> serve)
    {
        var call = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        void Crashed() => call.TrySetException(new FailureException(
            new Failure(StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "the proxy is gone")));
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
