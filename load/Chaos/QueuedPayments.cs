using Billing.Chaos.Rest;
using Billing.Driver;
using Billing.Journals;
using Billing.V1;

namespace Billing.Chaos;

/// <summary>Callers that do not wait for the outcome of their payments, but ask for it later
/// (<see cref="QueuedPayment"/>).</summary>
internal sealed class QueuedPayments : IAsyncDisposable
{
    // So many callers have payments waiting while nobody executes them.
    private const int CallersDivisor = 4;

    // Other accounts and amounts than those of the other callers.
    private const int SeedOffset = 700_000;

    private static readonly int[] TimeoutSeconds = [2, 3, 5, 10, 20, 60];

    private readonly TrafficOptions _options;
    private readonly TrafficRecord _record;
    private readonly TimeProvider _time;
    private readonly CallClock _clock;
    private readonly Pace _pace;
    private readonly RestProxies _proxies;
    private readonly Journal _journal;
    private int _accepted;
    private int _declined;
    private int _failed;
    private int _unanswered;

    /// <summary>Creates the callers; nothing is sent yet.</summary>
    /// <param name="options">The options of the traffic.</param>
    /// <param name="token">The callers' token; null for none.</param>
    /// <param name="record">Where violations go.</param>
    /// <param name="time">The clock.</param>
    public QueuedPayments(TrafficOptions options, string? token, TrafficRecord record, TimeProvider time)
    {
        _options = options;
        _record = record;
        _time = time;
        _clock = new CallClock(time);
        _pace = new Pace(Math.Max(1, options.QueuedRate), time);
        _proxies = new RestProxies(options.RestProxies, options.Deadline, options.Credentials?.Handler(), token);
        _journal = new Journal(options.QueuedJournal);
    }

    /// <summary>Number of payments that were accepted or declined.</summary>
    public int Answered => Volatile.Read(ref _accepted) + Declined;

    /// <summary>Number of payments that were declined.</summary>
    public int Declined => Volatile.Read(ref _declined);

    /// <summary>Number of payments that nobody executed in time.</summary>
    public int Failed => Volatile.Read(ref _failed);

    /// <summary>Number of payments whose status was not final, or not one.</summary>
    public int Unanswered => Volatile.Read(ref _unanswered);

    /// <summary>Pays until it is enough, and follows what was sent to its end.</summary>
    /// <param name="enough">Ends sending.</param>
    /// <param name="giveUp">Ends the wait for what has been sent.</param>
    public Task RunAsync(CancellationToken enough, CancellationToken giveUp) => Task.WhenAll(
        Enumerable.Range(0, Math.Max(1, _options.Workers / CallersDivisor))
            .Select(caller => CallInTurnAsync(new Random(_options.Seed + SeedOffset + caller), enough, giveUp)));

    /// <summary>Closes the connections and completes the journal.</summary>
    public async ValueTask DisposeAsync()
    {
        _proxies.Dispose();
        await _journal.DisposeAsync();
    }

    private async Task CallInTurnAsync(Random random, CancellationToken enough, CancellationToken giveUp)
    {
        var requests = new RandomRequests(
            _options.Accounts, random, _options.OtherCurrencyPercent, _options.AccountPrefix,
            notesPercent: _options.NotesPercent);
        while (!enough.IsCancellationRequested)
        {
            await _pace.TakeTurnAsync(enough).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            await PayAsync(requests.Payment(), random, giveUp);
        }
    }

    private async Task PayAsync(MakePaymentRequest payment, Random random, CancellationToken giveUp)
    {
        var began = _clock.Now;
        var timeout = TimeSpan.FromSeconds(TimeoutSeconds[random.Next(TimeoutSeconds.Length)]);
        var queued = new QueuedPayment(
            payment, timeout, _proxies, _options.CommandsMayBeLost, _record, random, _time);
        var hasEnded = false;
        try
        {
            var outcome = await queued.EndAsync(giveUp);
            hasEnded = true;
            Write(payment, outcome, _clock.Since(began));
            await queued.CheckAsync(outcome, giveUp);
        }
        catch (Exception e) when (e is InvalidDataException or OperationCanceledException)
        {
            if (e is InvalidDataException)
            {
                _record.Violations.Enqueue(e.Message);
            }
            if (!hasEnded)
            {
                Interlocked.Increment(ref _unanswered);
                _journal.Add(JournalEntry.Failed(payment, isFinal: false, _clock.Since(began)));
            }
        }
    }

    private void Write(MakePaymentRequest payment, MakePaymentResponse? outcome, CallSpan span)
    {
        if (outcome is null)
        {
            Interlocked.Increment(ref _failed);
            _journal.Add(JournalEntry.Failed(payment, isFinal: true, span));
            return;
        }
        Interlocked.Increment(ref (outcome.Outcome == PaymentOutcome.Accepted ? ref _accepted : ref _declined));
        _journal.Add(JournalEntry.Of(payment, outcome, span));
    }
}
