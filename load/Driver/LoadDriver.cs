using Billing.Driver.Channels;
using Billing.Driver.Metering;
using Billing.V1;

namespace Billing.Driver;

/// <summary>Generates the load of a <see cref="LoadSpec"/>, measures the answers and journals every one of them, those of the warm-up
/// included.</summary>
public sealed class LoadDriver : IAsyncDisposable
{
    // Work that the warm-up leaves behind, e.g. for a read model, must not slow down the measured requests.
    private static readonly TimeSpan PauseAfterWarmUp = TimeSpan.FromMilliseconds(200);

    // The warm-up uses other accounts and amounts than the measurement.
    private const int WarmUpSeed = 500_000;

    private readonly LoadSpec _spec;
    private readonly TimeProvider _time;
    private readonly CallClock _clock;
    private readonly IRequestChannel[] _channels;
    private readonly Journal? _journal;
    private volatile Meter? _meter;
    private long _paymentsAnswered;
    private long _balancesAnswered;

    /// <summary>Creates a driver; connections are opened with the first requests.</summary>
    public LoadDriver(LoadSpec spec, TimeProvider time)
        : this(spec, time, address => Connections.Open(spec, address, time))
    {
    }

    /// <summary>Creates a driver over channels of the caller's own.</summary>
    /// <param name="spec">The load.</param>
    /// <param name="time">The clock.</param>
    /// <param name="connect">Creates a channel to an address.</param>
    public LoadDriver(LoadSpec spec, TimeProvider time, Func<string, IRequestChannel> connect)
    {
        _spec = spec;
        _time = time;
        _clock = new CallClock(time);
        _channels = [.. Enumerable.Range(0, spec.Connections).Select(n => connect(spec.Addresses[n % spec.Addresses.Count]))];
        _journal = spec.Journal is { } path ? new Journal(path) : null;
    }

    /// <summary>Called with every answered or failed payment that is measured, the moment at which it was due, and its answer.</summary>
    public Action<MakePaymentRequest, Answer<MakePaymentResponse>, CallSpan>? Observe { get; init; }

    /// <summary>Number of measured requests answered or failed so far.</summary>
    public long Done => _meter?.Done ?? 0;

    /// <summary>Number of retries by the channels so far.</summary>
    public long Retried => _channels.Sum(channel => channel.Retried);

    /// <summary>Sends the requests of the warm-up and waits for the answers.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        if (_spec.WarmUp is { } shape)
        {
            await SendAsync(new Meter(_clock.Now, [""], isBurst: false), shape, _spec.Seed + WarmUpSeed, isMeasured: false, cancellationToken);
            await Task.Delay(PauseAfterWarmUp, _time, cancellationToken);
        }
    }

    /// <summary>Sends the measured requests and waits for their answers.</summary>
    /// <param name="enough">Ends sending; requests in flight are still awaited, and what was measured is returned.</param>
    public async Task<LoadResult> RunAsync(CancellationToken enough)
    {
        string[] phases = _spec.Shape is LoadShape.Open open ? [.. open.Phases.Select(phase => phase.Name)] : [""];
        var meter = new Meter(_clock.Now, phases, _spec.Shape is LoadShape.Burst);
        _meter = meter;
        await SendAsync(meter, _spec.Shape, _spec.Seed, isMeasured: true, enough);
        return meter.Result() with
        {
            Retried = Retried,
            PaymentsAnswered = Interlocked.Read(ref _paymentsAnswered),
            BalancesAnswered = Interlocked.Read(ref _balancesAnswered),
        };
    }

    /// <summary>Closes the connections and completes the journal.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var channel in _channels)
        {
            await channel.DisposeAsync();
        }
        if (_journal is not null)
        {
            await _journal.DisposeAsync();
        }
    }

    private Task SendAsync(Meter meter, LoadShape shape, int seed, bool isMeasured, CancellationToken enough)
    {
        var sender = new Sender(this, meter, isMeasured);
        return shape switch
        {
            LoadShape.Burst burst => BurstAsync(sender, burst, RandomRequests.Of(_spec, seed)),
            LoadShape.Closed closed => ClosedAsync(sender, closed, seed, enough),
            LoadShape.Open open => OpenAsync(sender, open, RandomRequests.Of(_spec, seed), enough),
            _ => throw new InvalidOperationException($"Unknown shape {shape}."),
        };
    }

    private Task BurstAsync(Sender sender, LoadShape.Burst burst, RandomRequests random)
    {
        var payments = Enumerable.Range(0, burst.Payments).Select(_ => random.Payment()).ToArray();
        var balances = Enumerable.Range(0, burst.Balances).Select(_ => random.Balance()).ToArray();
        return Task.WhenAll(
        [
            .. payments.Select((request, i) => sender.PayAsync(ChannelOf(i), request, 0, _clock.Now)),
            .. balances.Select((request, i) => sender.CheckAsync(ChannelOf(i), request, 0, _clock.Now)),
        ]);
    }

    private Task ClosedAsync(Sender sender, LoadShape.Closed closed, int seed, CancellationToken enough)
    {
        var limit = new SendLimit(_time, closed, enough);
        var pace = closed.RatePerS > 0 ? new Pace(closed.RatePerS, _time) : null;
        return Task.WhenAll(Enumerable.Range(0, closed.Callers).Select(caller =>
            CallInTurnAsync(sender, ChannelOf(caller), limit, pace, RandomRequests.Of(_spec, seed + (caller * 1009)))));
    }

    private async Task CallInTurnAsync(Sender sender, IRequestChannel channel, SendLimit limit, Pace? pace, RandomRequests random)
    {
        // Callers begin in parallel on pool threads, not one after the other on this thread.
        await Task.Yield();
        for (var sent = 0L; limit.Admits(sent); sent++)
        {
            if (pace is not null)
            {
                await pace.TakeTurnAsync(limit.Enough).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
            await sender.SendAsync(channel, random, 0, _clock.Now);
        }
    }

    private Task OpenAsync(Sender sender, LoadShape.Open open, RandomRequests random, CancellationToken enough)
    {
        var (start, startUnixUs) = (_time.GetTimestamp(), _clock.Now);
        return new OpenLoop(new Schedule(open.Phases), _time).RunAsync(
            start, (number, due, phase) => sender.SendAsync(ChannelOf(number), random, phase, startUnixUs + (long)due.TotalMicroseconds), enough);
    }

    private IRequestChannel ChannelOf(long number) => _channels[number % _channels.Length];

    /// <summary>Sends single requests, counts and journals their outcomes.</summary>
    private sealed class Sender(LoadDriver driver, Meter meter, bool isMeasured)
    {
        public Task SendAsync(IRequestChannel channel, RandomRequests random, int phase, long due) => random.IsAmong(driver._spec.BalancePercent)
            ? CheckAsync(channel, random.Balance(), phase, due)
            : random.IsAmong(driver._spec.ReadBackPercent)
            ? PayAndReadBackAsync(channel, random.Payment(), phase, due)
            : PayAsync(channel, random.Payment(), phase, due);

        private async Task PayAndReadBackAsync(IRequestChannel channel, MakePaymentRequest request, int phase, long due)
        {
            if (await PayAsync(channel, request, phase, due) is { } paid)
            {
                var check = new CheckBalanceRequest { AccountId = request.AccountId, PaymentType = request.PaymentType, MinVersion = paid.Version };
                await CheckAsync(channel, check, phase, driver._clock.Now);
            }
        }

        public async Task<MakePaymentResponse?> PayAsync(IRequestChannel channel, MakePaymentRequest request, int phase, long due)
        {
            var began = driver._clock.Now;
            var answer = await channel.PayAsync(request);
            var span = driver._clock.Since(began);
            if (answer.Message is { } message)
            {
                Interlocked.Increment(ref driver._paymentsAnswered);
                driver._journal?.Add(JournalEntry.Of(request, message, span));
            }
            else
            {
                driver._journal?.Add(JournalEntry.Failed(request, answer.IsFinal, span));
            }
            meter.Payment(phase, new Outcome(answer.Error, answer.Message?.Outcome == PaymentOutcome.Declined, answer.Times), due, span.EndedUnixUs);
            if (isMeasured)
            {
                driver.Observe?.Invoke(request, answer, span with { BeganUnixUs = due });
            }
            return answer.Message;
        }

        public async Task CheckAsync(IRequestChannel channel, CheckBalanceRequest request, int phase, long due)
        {
            var began = driver._clock.Now;
            var answer = await channel.CheckAsync(request);
            var span = driver._clock.Since(began);
            if (answer.Message is { } message)
            {
                Interlocked.Increment(ref driver._balancesAnswered);
                driver._journal?.Add(JournalEntry.Of(request, message, span));
            }
            meter.Balance(phase, new Outcome(answer.Error, IsDeclined: false, null), due, span.EndedUnixUs);
        }
    }
}
