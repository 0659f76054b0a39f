using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Channels;
using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Microsoft.Extensions.Hosting;

namespace Billing.Messaging.Embedded;

/// <summary>A transport without Kafka: proxy and backends in one process, connected by in-memory queues, with the same
/// batching, receipts and event store. Commands in a queue are lost when the process dies, but none of them has been
/// answered as executed: the caller gets an error and retries.</summary>
public sealed class EmbeddedTransport : Worker, IRequestTransport, IAnswerPublisher, IReadyPart
{
    private readonly PendingReplies _pending;
    private readonly Supervisor _supervisor;
    private readonly HandlerQueue[] _payments;
    private readonly HandlerQueue[] _balances;
    private readonly List<IReadModel> _readModels;
    private readonly Lock _applyGate = new();

    /// <summary>Creates the transport.</summary>
    /// <param name="pending">The calls that wait for replies.</param>
    /// <param name="handlers">Creates the handlers, which publish their answers to the given publisher.</param>
    /// <param name="owner">The name by which the event store knows this process as the owner of its accounts:
    /// a later process of this name takes them over, also from one that hangs.</param>
    /// <param name="supervisor">Ends the process if another one has taken over.</param>
    public EmbeddedTransport(
        PendingReplies pending, Func<IAnswerPublisher, EmbeddedHandlers> handlers, string owner, Supervisor supervisor)
        : base(supervisor)
    {
        (_pending, _supervisor) = (pending, supervisor);
        var created = handlers(this);
        _payments =
        [
            .. created.Payments.Select(
                (h, i) => new HandlerQueue(this, h, new PartitionAssignment(new SourcePartition(owner, i)))),
        ];
        _balances = [.. created.Balances.Select(h => new HandlerQueue(this, h, PartitionAssignment.Permanent))];
        _readModels = [.. created.ReadModels];
    }

    /// <inheritdoc/>
    public string? NotReadyReason =>
        HostedHandlers.OfType<IReadyPart>().Select(part => part.NotReadyReason).FirstOrDefault(why => why is not null);

    /// <inheritdoc/>
    public TransportDescription Description { get; } = new(
        "embedded",
        "Proxy and backends are one process, with queues in memory; "
            + "there are no topics, consumer groups or dead letters.",
        StoresCommands: false, TimesSteps: true);

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Request request, Action<int>? stored = null)
    {
        var (correlationId, reply) = _pending.Register(request);
        Send(request.Route, request.ToCommand(correlationId, Topics.Replies("embedded")));
        return reply;
    }

    /// <inheritdoc/>
    public Task SendAsync(Command command)
    {
        Send(CommandRoute.Of(command), command);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task PublishAsync(
        IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        // Events first, so that a caller that has received the answer to a payment then sees it in the balance.
        if (events.Count > 0)
        {
            // Handlers publish concurrently.
            lock (_applyGate)
            {
                _readModels.ForEach(model => model.Apply(events));
            }
        }
        foreach (var answer in answers)
        {
            _pending.Complete(answer.Reply);
        }
        return Task.CompletedTask;
    }

    /// <summary>Resets the read models, then starts the handlers, then their queues.</summary>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        _readModels.ForEach(model => model.Reset());
        foreach (var handler in HostedHandlers)
        {
            await handler.StartAsync(cancellationToken);
        }
        await base.StartAsync(cancellationToken);
    }

    /// <summary>Stops the queues, then the handlers.</summary>
    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        await base.StopAsync(cancellationToken);
        await Task.WhenAll(HostedHandlers.Select(handler => handler.StopAsync(cancellationToken)));
    }

    /// <inheritdoc/>
    public override async Task RunAsync(CancellationToken stopping)
    {
        // No queue ends by itself. The first one that ends was stopped or has failed;
        // a failure is thrown to the supervisor.
        var ended = await Task.WhenAny(Queues.Select(queue => queue.RunAsync(stopping)));
        await ended;
    }

    // As on Kafka, the key selects the handler: one handler processes an account's commands in order. In every process
    // it is the same one, so that a later process takes each account over from the handler that had it.
    private void Send(CommandRoute route, Command command)
    {
        var queues = route.IsWrite ? _payments : _balances;
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(route.AccountId), hash);
        queues[BinaryPrimitives.ReadUInt32BigEndian(hash) % (uint)queues.Length].Send(command);
    }

    private void TakenOver() => _supervisor.Fail(
        nameof(EmbeddedTransport), new InvalidOperationException(
            "Another process works on the same event store and has taken over the accounts of this one."));

    private IEnumerable<HandlerQueue> Queues => _payments.Concat(_balances);

    private IEnumerable<IHostedService> HostedHandlers =>
        Queues.Select(queue => queue.Handler).OfType<IHostedService>();

    // The commands for a handler, in order, as a partition has them on Kafka.
    private sealed class HandlerQueue(
        EmbeddedTransport transport, ICommandHandler handler, PartitionAssignment assignment)
    {
        private const int BatchMax = 1000;

        // A null says that a delivery was abandoned.
        private readonly Channel<Sent?> _queue = Channel.CreateUnbounded<Sent?>(
            new UnboundedChannelOptions { SingleReader = true });

        // Those delivered, up to the watermark.
        private readonly Queue<EmbeddedDelivery> _delivered = [];
        private PartitionAssignment _assignment = assignment;

        public ICommandHandler Handler => handler;

        public void Send(Command command) => _queue.Writer.TryWrite(new Sent(command, Tracing.Current));

        public void Abandoned() => _queue.Writer.TryWrite(null);

        public async Task RunAsync(CancellationToken cancellationToken)
        {
            while (await _queue.Reader.WaitToReadAsync(cancellationToken))
            {
                while (_delivered.TryPeek(out var oldest) && oldest.IsSettled)
                {
                    _delivered.Dequeue();
                }
                var deliveries = new List<Delivery>();
                while (deliveries.Count < BatchMax && _queue.Reader.TryRead(out var sent))
                {
                    if (sent is not null)
                    {
                        deliveries.Add(Deliver(sent));
                    }
                    else if (_assignment.IsFenced)
                    {
                        transport.TakenOver();
                    }
                    else if (_assignment.IsOver)
                    {
                        deliveries = DeliverAgain();
                    }
                }
                if (deliveries.Count > 0)
                {
                    handler.Accept(deliveries);
                }
            }
        }

        private List<Delivery> DeliverAgain()
        {
            _assignment = new PartitionAssignment(_assignment.Partition);
            var unsettled = _delivered.Where(delivery => !delivery.IsSettled).ToList();
            _delivered.Clear();
            return unsettled.ConvertAll<Delivery>(delivery => Deliver(delivery.Sent));
        }

        private EmbeddedDelivery Deliver(Sent sent)
        {
            var delivery = new EmbeddedDelivery(this, sent, _assignment)
            {
                Processing = Tracing.Start("process", ActivityKind.Consumer, sent.Trace),
            };
            _delivered.Enqueue(delivery);
            return delivery;
        }
    }

    private sealed record Sent(Command Command, ActivityContext Trace);

    private sealed class EmbeddedDelivery(HandlerQueue queue, Sent sent, PartitionAssignment assignment)
        : Delivery(sent.Command, assignment)
    {
        private volatile bool _isSettled;

        public Sent Sent => sent;

        public bool IsSettled => _isSettled;

        public override void Settle() => Done(null);

        public override void Reject(string reason) => Done("unprocessable");

        public override void Abandon()
        {
            base.Abandon();
            queue.Abandoned();
        }

        private void Done(string? error)
        {
            _isSettled = true;
            EndProcessing(error);
        }
    }
}

/// <summary>The backends of an embedded system. The accounts are distributed over the handlers of each list,
/// which has at least one; the balance handlers answer from the read models.</summary>
public sealed record EmbeddedHandlers(
    IReadOnlyList<ICommandHandler> Payments,
    IReadOnlyList<ICommandHandler> Balances, IReadOnlyList<IReadModel> ReadModels);
