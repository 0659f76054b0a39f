using System.Diagnostics;
using System.Threading.Channels;
using Billing.Contracts;
using Billing.Messaging.Hosting;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;
using Microsoft.Extensions.Hosting;

namespace Billing.Messaging.Embedded;

/// <summary>The transport for where no Kafka can be had: proxy and backends in one process, over in-memory queues, with
/// the same batching, receipts and store behind. What is in a queue when the process dies is lost, but nobody was told
/// that it was done: the caller gets an error and asks again.</summary>
public sealed class EmbeddedTransport : Worker, IQueuedTransport, IAnswerPublisher, IReadyPart
{
    private readonly PendingReplies _pending;
    private readonly Lane[] _payments;
    private readonly Lane[] _balances;
    private readonly IReadOnlyList<IReadModel> _readModels;
    private readonly Lock _applying = new();

    /// <summary>Creates the transport.</summary>
    /// <param name="pending">The calls that wait.</param>
    /// <param name="handlers">Makes the handlers, given where their answers go.</param>
    /// <param name="supervisor">Runs the queues.</param>
    public EmbeddedTransport(PendingReplies pending, Func<IAnswerPublisher, EmbeddedHandlers> handlers, Supervisor supervisor)
        : base(supervisor)
    {
        _pending = pending;
        var made = handlers(this);
        _payments = [.. made.Payments.Select(h => new Lane(h))];
        _balances = [.. made.Balances.Select(h => new Lane(h))];
        _readModels = made.ReadModels ?? [];
    }

    /// <inheritdoc/>
    public string? WhyNotReady => HostedHandlers.OfType<IReadyPart>().Select(part => part.WhyNotReady).FirstOrDefault(why => why is not null);

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Command command, CancellationToken cancellationToken)
    {
        command.ProxyTopic = Topics.Replies("embedded");
        var reply = _pending.Register(command, cancellationToken);
        var route = CommandRoute.Of(command);
        var lanes = route.IsWrite ? _payments : _balances;
        // As on Kafka, the key decides: one account's commands stay in order with one handler.
        lanes[(uint)string.GetHashCode(route.AccountId, StringComparison.Ordinal) % (uint)lanes.Length].Send(command);
        return reply;
    }

    /// <inheritdoc/>
    /// <remarks>The queue is in memory: what is in it when the process dies is lost, unlike with a transport that keeps
    /// commands elsewhere.</remarks>
    public Task<Reply> SendAsync(Command command, Action queued, CancellationToken cancellationToken)
    {
        var reply = SendAsync(command, cancellationToken);
        queued();
        return reply;
    }

    /// <inheritdoc/>
    public Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        // Events first: who has the answer to a payment then finds it in the balance.
        Apply(events);
        foreach (var answer in answers)
        {
            _pending.Complete(answer.Reply);
        }
        return Task.CompletedTask;
    }

    /// <summary>Builds the read models, starts the handlers, then the queues to them.</summary>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var model in _readModels)
        {
            await model.RebuildAsync(cancellationToken);
        }
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
        // None of these ends by itself: the first one to end was stopped, or has failed and says so for all.
        var first = await Task.WhenAny(_payments.Concat(_balances).Select(lane => lane.RunAsync(stopping)));
        await first;
    }

    private void Apply(IReadOnlyList<Event> events)
    {
        if (events.Count == 0 || _readModels.Count == 0)
        {
            return;
        }
        // Several handlers publish at the same time.
        lock (_applying)
        {
            foreach (var model in _readModels)
            {
                model.Apply(events);
            }
        }
    }

    private IEnumerable<IHostedService> HostedHandlers =>
        _payments.Concat(_balances).Select(lane => lane.Handler).OfType<IHostedService>();

    private sealed class Lane(ICommandHandler handler)
    {
        public ICommandHandler Handler => handler;

        private const int DrainMax = 1000;

        private readonly Channel<(Command Command, ActivityContext Trace)> _queue =
            Channel.CreateUnbounded<(Command, ActivityContext)>(new UnboundedChannelOptions { SingleReader = true });

        public void Send(Command command) => _queue.Writer.TryWrite((command, Tracing.Current));

        public async Task RunAsync(CancellationToken cancellationToken)
        {
            while (await _queue.Reader.WaitToReadAsync(cancellationToken))
            {
                var deliveries = new List<Delivery>();
                while (deliveries.Count < DrainMax && _queue.Reader.TryRead(out var sent))
                {
                    deliveries.Add(new EmbeddedDelivery(sent.Command)
                    {
                        Processing = Tracing.Start("process", ActivityKind.Consumer, sent.Trace),
                    });
                }
                handler.Accept(deliveries);
            }
        }
    }

    private sealed class EmbeddedDelivery(Command command) : Delivery(command, new SourcePartition("", 0))
    {
        public override void Settle() => EndProcessing();

        public override void Reject(string reason) => EndProcessing("unprocessable");
    }
}

/// <summary>The backends of an embedded system; accounts are shared out over each list.</summary>
/// <param name="Payments">Payment handlers, at least one.</param>
/// <param name="Balances">Balance handlers, at least one.</param>
/// <param name="ReadModels">What the balance handlers answer from.</param>
public sealed record EmbeddedHandlers(
    IReadOnlyList<ICommandHandler> Payments, IReadOnlyList<ICommandHandler> Balances,
    IReadOnlyList<IReadModel>? ReadModels = null);
