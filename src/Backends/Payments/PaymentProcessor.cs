using System.Collections.Concurrent;
using System.Threading.Channels;
using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Messaging;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;
using Polly;

namespace Billing.Backends.Payments;

/// <summary>The write side: deliveries in, answers and events out. One loop takes turns; each turn takes whatever has piled
/// up during the one before, so a batch grows with the load, and what it costs on top of its payments is shared by more of
/// them. The steps of a turn are the methods in this order: deduplicate, authorise, record, settle.</summary>
public sealed partial class PaymentProcessor : BackgroundService, ICommandHandler
{
    private readonly Channel<IReadOnlyList<Delivery>> _accepted =
        Channel.CreateUnbounded<IReadOnlyList<Delivery>>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<PendingPayment> _authorised =
        Channel.CreateUnbounded<PendingPayment>(new UnboundedChannelOptions { SingleReader = true });

    // Released with every entry into either queue; one wakes the loop, which then drains both.
    private readonly SemaphoreSlim _work = new(0);

    private readonly ConcurrentDictionary<string, PendingPayment> _lastOfAccount = new(StringComparer.Ordinal);
    private readonly PaymentsInFlight _inFlight = new();
    private readonly AccountStore _store;
    private readonly PaymentRecorder _recorder;
    private readonly SimulatedCardNetwork _network;
    private readonly AnswerSettler _settler;
    private readonly int _batchMax;
    private readonly ILogger<PaymentProcessor> _logger;
    private readonly ResiliencePipeline _retry;

    /// <summary>Creates the processor.</summary>
    public PaymentProcessor(
        AccountStore store, PaymentRecorder recorder, SimulatedCardNetwork network, AnswerSettler settler,
        IOptions<BackendOptions> options, TimeProvider time, ILogger<PaymentProcessor> logger)
    {
        _store = store;
        _recorder = recorder;
        _network = network;
        _settler = settler;
        _batchMax = options.Value.BatchMax;
        _logger = logger;
        _retry = EventStoreRetry.Forever(time, EventStoreRetry.IsAway, (e, attempt) => Waiting(attempt, e.Message));
    }

    /// <inheritdoc/>
    public int InFlight => _settler.InFlight;

    /// <inheritdoc/>
    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        _settler.Enter(deliveries.Count);
        _accepted.Writer.TryWrite(deliveries);
        _work.Release();
    }

    /// <inheritdoc/>
    public void ForgetAccounts() => _recorder.ForgetAccounts();

    /// <inheritdoc/>
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        while (true)
        {
            await _work.WaitAsync(stoppingToken);
            while (_work.Wait(0, CancellationToken.None))
            {
                // Everything that these were released for is drained below.
            }
            await DeduplicateAsync(stoppingToken);
            await RecordAsync(stoppingToken);
        }
    }

    /// <summary>Copies of a payment in flight join it; what has a receipt is answered from it; the rest goes on.</summary>
    private async Task DeduplicateAsync(CancellationToken cancellationToken)
    {
        // In flight first, receipts second: the other way round a payment could slip from one to the other between.
        var fresh = new List<PendingPayment>();
        while (_accepted.Reader.TryRead(out var deliveries))
        {
            fresh.AddRange(_inFlight.Enter(deliveries));
        }
        if (fresh.Count == 0)
        {
            return;
        }
        var ids = fresh.Select(p => p.Payment.TransactionId).ToArray();
        var receipts = await _retry.ExecuteAsync(
            async token => await _store.FindReceiptsAsync(ids, token), cancellationToken);
        var repeated = new List<PendingPayment>();
        foreach (var payment in fresh)
        {
            if (receipts.TryGetValue(payment.Payment.TransactionId, out var recorded))
            {
                payment.Record(recorded);
                repeated.Add(payment);
            }
            else
            {
                Authorise(payment, cancellationToken);
            }
        }
        Settle(repeated);
    }

    /// <summary>All card-network calls run at the same time; the payments of one account still go on in the order they
    /// came.</summary>
    private void Authorise(PendingPayment payment, CancellationToken cancellationToken)
    {
        var authorised = _network.AuthoriseAsync(cancellationToken);
        var before = _lastOfAccount.GetValueOrDefault(payment.StreamId)?.Turn ?? Task.CompletedTask;
        if (authorised.IsCompletedSuccessfully && before.IsCompletedSuccessfully)
        {
            _authorised.Writer.TryWrite(payment);
            return;
        }
        _lastOfAccount[payment.StreamId] = payment;
        payment.Turn = TakeTurnAsync(payment, authorised, before);
    }

    private async Task TakeTurnAsync(PendingPayment payment, Task authorised, Task before)
    {
        await authorised;
        await before;
        _authorised.Writer.TryWrite(payment);
        _lastOfAccount.TryRemove(KeyValuePair.Create(payment.StreamId, payment));
        _work.Release();
    }

    /// <summary>One transaction for whatever is authorised by now, up to the largest batch.</summary>
    private async Task RecordAsync(CancellationToken cancellationToken)
    {
        while (_authorised.Reader.TryPeek(out _))
        {
            var batch = new List<PendingPayment>();
            while (batch.Count < _batchMax && _authorised.Reader.TryRead(out var payment))
            {
                batch.Add(payment);
            }
            await _recorder.RecordAsync(batch, cancellationToken);
            Settle(batch);
        }
    }

    private void Settle(List<PendingPayment> done)
    {
        if (done.Count == 0)
        {
            return;
        }
        _inFlight.Leave(done);
        var answers = new List<(Delivery, Reply)>(done.Count);
        var events = new List<Event>(done.Count);
        foreach (var payment in done)
        {
            if (payment.Refusal is { Reason: Contracts.ErrorReasons.ProcessingFailed })
            {
                foreach (var (delivery, reply) in payment.Answers())
                {
                    _settler.Reject(delivery, reply);
                }
                continue;
            }
            answers.AddRange(payment.Answers());
            if (payment.Recorded is { } recorded)
            {
                events.Add(recorded);
            }
        }
        _settler.Settle(answers, events);
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        _work.Dispose();
        base.Dispose();
    }

    [LoggerMessage(220, LogLevel.Warning, "Receipts could not be read, attempt {Attempt}: {Reason}")]
    private partial void Waiting(int attempt, string reason);
}
