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
    /// <param name="owner">The name by which the event store knows this process as the owner of its accounts: a later process of this name takes
    /// them over, also from one that hangs.</param>
    /// <param name="supervisor">Ends the process if another one has taken over.</param>
    public EmbeddedTransport(PendingReplies pending, Func<IAnswerPublisher, EmbeddedHandlers> handlers, string owner, Supervisor supervisor)
        : base(supervisor)
    {
        (_pending, _supervisor) = (pending, supervisor);
        var created = handlers(this);
        _payments = [.. created.Payments.Select((h, i) => new HandlerQueue(this, h, new PartitionAssignment(new SourcePartition(owner, i))))];
        _balances = [.. created.Balances.Select(h => new HandlerQueue(this, h, PartitionAssignment.Permanent))];
        _readModels = [.. created.ReadModels];
    }

    /// <inheritdoc/>
    public string? NotReadyReason => HostedHandlers.OfType<IReadyPart>().Select(part => part.NotReadyReason).FirstOrDefault(why => why is not null);

    /// <inheritdoc/>
    public TransportDescription Description { get; } = new(
        "embedded", "Proxy and backends are one process, with queues in memory; there are no topics, consumer groups or dead letters.",
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
    public Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
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
        // No queue ends by itself. The first one that ends was stopped or has failed; a failure is thrown to the supervisor.
        var ended = await Task.WhenAny(Queues.Select(queue => queue.RunAsync(stopping)));
        await ended;
    }

    // As on Kafka, the key selects the handler: one handler processes an account's commands in order. In every process it is the same one, so that a
    // later process takes each account over from the handler that had it.
    private void Send(CommandRoute route, Command command)
    {
        var queues = route.IsWrite ? _payments : _balances;
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(route.AccountId), hash);
        queues[BinaryPrimitives.ReadUInt32BigEndian(hash) % (uint)queues.Length].Send(command);
    }

    private void TakenOver() => _supervisor.Fail(
        nameof(EmbeddedTransport), new InvalidOperationException("Another process works on the same event store and has taken over the accounts of this one."));

    private IEnumerable<HandlerQueue> Queues => _payments.Concat(_balances);

    private IEnumerable<IHostedService> HostedHandlers => Queues.Select(queue => queue.Handler).OfType<IHostedService>();

    private sealed class HandlerQueue(EmbeddedTransport transport, ICommandHandler handler, PartitionAssignment assignment)
    {
        public ICommandHandler Handler => handler;

        private const int BatchMax = 1000;

        private readonly Channel<(Command Command, ActivityContext Trace)> _queue =
            Channel.CreateUnbounded<(Command, ActivityContext)>(new UnboundedChannelOptions { SingleReader = true });

        public void Send(Command command) => _queue.Writer.TryWrite((command, Tracing.Current));

        public async Task RunAsync(CancellationToken cancellationToken)
        {
            while (await _queue.Reader.WaitToReadAsync(cancellationToken))
            {
                var deliveries = new List<Delivery>();
                while (deliveries.Count < BatchMax && _queue.Reader.TryRead(out var sent))
                {
                    deliveries.Add(new EmbeddedDelivery(transport, sent.Command, assignment)
                    {
                        Processing = Tracing.Start("process", ActivityKind.Consumer, sent.Trace),
                    });
                }
                handler.Accept(deliveries);
            }
        }
    }

    private sealed class EmbeddedDelivery(EmbeddedTransport transport, Command command, PartitionAssignment assignment) : Delivery(command, assignment)
    {
        public override void Settle() => EndProcessing();

        public override void Abandon()
        {
            base.Abandon();
            transport.TakenOver();
        }

        public override void Reject(string reason) => EndProcessing("unprocessable");
    }
}

/// <summary>The backends of an embedded system. The accounts are distributed over the handlers of each list, which has at least one; the
/// balance handlers answer from the read models.</summary>
public sealed record EmbeddedHandlers(
    IReadOnlyList<ICommandHandler> Payments, IReadOnlyList<ICommandHandler> Balances, IReadOnlyList<IReadModel> ReadModels);
