using System.Collections.Concurrent;
using System.Threading.Channels;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;
using Polly;

namespace Billing.Backends.Payments;

/// <summary>The write side, for payments and for changes of credit limits: deliveries in, answers and events out. One loop takes turns; each turn takes whatever has piled
/// up during the one before, so a batch grows with the load, and what it costs on top of its payments is shared by more of
/// them. The steps of a turn are the methods in this order: deduplicate, authorise, record, settle.</summary>
public sealed partial class PaymentProcessor : BackgroundService, ICommandHandler
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromMilliseconds(250);

    private readonly Channel<IReadOnlyList<PendingCommand>> _accepted =
        Channel.CreateUnbounded<IReadOnlyList<PendingCommand>>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<PendingCommand> _authorised =
        Channel.CreateUnbounded<PendingCommand>(new UnboundedChannelOptions { SingleReader = true });

    // Released with every entry into either queue; one wakes the loop, which then drains both.
    private readonly SemaphoreSlim _work = new(0);

    private readonly ConcurrentDictionary<string, PendingCommand> _lastOfAccount = new(StringComparer.Ordinal);
    private readonly CommandsInFlight _inFlight = new();
    private readonly AccountStore _store;
    private readonly PaymentRecorder _recorder;
    private readonly SimulatedCardNetwork _network;
    private readonly AnswerSettler _settler;
    private readonly BackendOptions _options;
    private readonly TimeProvider _time;
    private readonly ILogger<PaymentProcessor> _logger;
    private readonly ResiliencePipeline _retry;

    // When the event store was last turned to; 0 where it has answered.
    private long _askedStore;

    /// <summary>Creates the processor.</summary>
    public PaymentProcessor(
        AccountStore store, PaymentRecorder recorder, SimulatedCardNetwork network, AnswerSettler settler,
        IOptions<BackendOptions> options, TimeProvider time, ILogger<PaymentProcessor> logger)
    {
        _store = store;
        _recorder = recorder;
        _network = network;
        _settler = settler;
        _options = options.Value;
        _time = time;
        _logger = logger;
        _retry = EventStoreRetry.Forever(time, EventStoreRetry.IsAway, (e, attempt) => Waiting(attempt, e.Message));
    }

    /// <inheritdoc/>
    public int InFlight => _settler.InFlight;

    /// <inheritdoc/>
    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        _settler.Enter(deliveries.Count);
        NoteConsumed(deliveries);
        // In flight first, receipts later: the other way round a command could slip from one to the other between.
        var fresh = _inFlight.Enter(deliveries, _time.GetTimestamp());
        if (fresh.Count > 0)
        {
            _accepted.Writer.TryWrite(fresh);
            _work.Release();
        }
    }

    private void NoteConsumed(IReadOnlyList<Delivery> deliveries)
    {
        foreach (var delivery in deliveries)
        {
            if (delivery.Command.Timing is { } timing)
            {
                timing.ConsumedUnixUs = _time.Microseconds();
            }
        }
    }

    /// <inheritdoc/>
    public void Forget(IReadOnlyCollection<SourcePartition> partitions) => _recorder.Forget(partitions);

    /// <inheritdoc/>
    protected override async Task ExecuteAsync(CancellationToken stoppingToken) =>
        await await Task.WhenAny(TakeTurnsAsync(stoppingToken), WatchStoreAsync(stoppingToken));

    private async Task TakeTurnsAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            await _work.WaitAsync(cancellationToken);
            while (_work.Wait(0, CancellationToken.None))
            {
                // Everything that these were released for is drained below.
            }
            await DeduplicateAsync(cancellationToken);
            await RecordAsync(cancellationToken);
        }
    }

    /// <summary>What has a receipt is answered from it; the rest goes on.</summary>
    private async Task DeduplicateAsync(CancellationToken cancellationToken)
    {
        var fresh = new List<PendingCommand>();
        while (_accepted.Reader.TryRead(out var commands))
        {
            fresh.AddRange(commands);
        }
        if (fresh.Count == 0)
        {
            return;
        }
        var ids = fresh.Select(c => c.Command.TransactionId).ToArray();
        Volatile.Write(ref _askedStore, _time.GetTimestamp());
        var receipts = await _retry.ExecuteAsync(
            async token => await _store.FindReceiptsAsync(ids, token), cancellationToken);
        Volatile.Write(ref _askedStore, 0);
        var repeated = new List<PendingCommand>();
        foreach (var command in fresh)
        {
            if (receipts.TryGetValue(command.Command.TransactionId, out var recorded))
            {
                command.Record(recorded);
                repeated.Add(command);
            }
            else
            {
                Authorise(command, cancellationToken);
            }
        }
        Settle(repeated);
    }

    /// <summary>All card-network calls run at the same time; the commands of one account still go on in the order they
    /// came.</summary>
    private void Authorise(PendingCommand command, CancellationToken cancellationToken)
    {
        var authorised = command.Command is Payment ? _network.AuthoriseAsync(cancellationToken) : Task.CompletedTask;
        var before = _lastOfAccount.GetValueOrDefault(command.StreamId)?.Turn ?? Task.CompletedTask;
        if (authorised.IsCompletedSuccessfully && before.IsCompletedSuccessfully)
        {
            _authorised.Writer.TryWrite(command);
            return;
        }
        _lastOfAccount[command.StreamId] = command;
        command.Turn = TakeTurnAsync(command, authorised, before);
    }

    private async Task TakeTurnAsync(PendingCommand command, Task authorised, Task before)
    {
        await authorised;
        await before;
        _authorised.Writer.TryWrite(command);
        _lastOfAccount.TryRemove(KeyValuePair.Create(command.StreamId, command));
        _work.Release();
    }

    /// <summary>One transaction for whatever is authorised by now, up to the largest batch.</summary>
    private async Task RecordAsync(CancellationToken cancellationToken)
    {
        while (_authorised.Reader.TryPeek(out _))
        {
            var batch = new List<PendingCommand>();
            while (batch.Count < _options.BatchMax && _authorised.Reader.TryRead(out var command))
            {
                batch.Add(command);
            }
            Volatile.Write(ref _askedStore, _time.GetTimestamp());
            await _recorder.RecordAsync(batch, cancellationToken);
            Volatile.Write(ref _askedStore, 0);
            Settle(batch);
        }
    }

    private void Settle(List<PendingCommand> done)
    {
        if (done.Count == 0)
        {
            return;
        }
        _inFlight.Leave(done);
        var answers = new List<(Delivery, Reply?)>(done.Count);
        var events = new List<Event>(done.Count);
        var now = _time.Microseconds();
        foreach (var command in done)
        {
            if (command.Refusal is { Reason: Contracts.ErrorReasons.ProcessingFailed } refusal)
            {
                foreach (var (delivery, reply) in command.Answers(now))
                {
                    _settler.Reject(delivery, refusal.Message, reply);
                }
                continue;
            }
            answers.AddRange(command.Answers(now));
            if (command.Recorded is { } recorded)
            {
                events.Add(recorded);
            }
        }
        _settler.Settle(answers, events);
    }

    /// <summary>While the event store is away, tells those who have waited for long: the turns cannot, they wait for the
    /// store. What they wait for is done or dropped when the store is back.</summary>
    private async Task WatchStoreAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(WatchInterval, _time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            if (Volatile.Read(ref _askedStore) is not 0 and var asked && _time.GetElapsedTime(asked) >= _options.StoreAwayMax)
            {
                TellUnavailable(_time.GetTimestamp() - (long)(_options.StoreAwayMax.TotalSeconds * _time.TimestampFrequency));
            }
        }
    }

    private void TellUnavailable(long since)
    {
        var waiting = _inFlight.TellWaiting(since);
        if (waiting.Count == 0)
        {
            return;
        }
        StoreAway(waiting.Count, _options.StoreAwayMax.TotalSeconds);
        _settler.Tell(waiting.ConvertAll(delivery => (delivery, Replies.Error(
            delivery.Command.CorrelationId, StatusCode.Unavailable, Contracts.ErrorReasons.EventStoreUnavailable,
            "The event store cannot be reached at the moment; ask again with the same transaction_id."))));
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        _work.Dispose();
        base.Dispose();
    }

    [LoggerMessage(220, LogLevel.Warning, "Receipts could not be read, attempt {Attempt}: {Reason}")]
    private partial void Waiting(int attempt, string reason);

    [LoggerMessage(221, LogLevel.Error, "The event store does not answer: told {Count} callers that have waited for {Seconds} s")]
    private partial void StoreAway(int count, double seconds);
}
