using Billing.LoadClient;

namespace Billing.Measuring.Driving;

/// <summary>Generates the load of a <see cref="DriveSpec"/> and measures the answers. In a closed loop, each caller on a
/// connection sends its next request when it has received its answer. In an open loop, requests are sent when they are due, and
/// their latency counts from that moment, however slow the platform is.</summary>
public sealed class Driver : IAsyncDisposable
{
    private static readonly TimeSpan WarmUpPause = TimeSpan.FromMilliseconds(200);

    private readonly DriveSpec _spec;
    private readonly TimeProvider _time;
    private readonly IRequestChannel[] _channels;
    private volatile DriverMeter? _meter;
    private long _answered;
    private long _unanswered;

    /// <summary>Creates a driver; connections are opened with the first requests.</summary>
    public Driver(DriveSpec spec, TimeProvider time)
    {
        _spec = spec;
        _time = time;
        _channels = [.. Enumerable.Range(0, spec.Connections).Select(n => Connect(spec.Addresses[n % spec.Addresses.Count]))];
    }

    /// <summary>Number of measured requests answered so far.</summary>
    public long Done => _meter?.Ok ?? 0;

    /// <summary>Sends requests for <see cref="DriveSpec.WarmUpS"/> without measuring them, and waits for the answers.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        if (_spec.WarmUpS > 0)
        {
            var end = new SendLimit(_time, TimeSpan.FromSeconds(_spec.WarmUpS), 0, cancellationToken);
            await SendAsync(new DriverMeter(_time), end, _spec.Seed + 500_000);
            // Work that the warm-up leaves behind, e.g. for a read model, must not slow down the measured requests.
            await Task.Delay(WarmUpPause, _time, cancellationToken);
        }
    }

    /// <summary>Sends the measured requests and waits for their answers. If it is cancelled, it returns the figures measured so
    /// far.</summary>
    public async Task<DriveResult> RunAsync(CancellationToken cancellationToken)
    {
        var meter = new DriverMeter(_time);
        _meter = meter;
        await SendAsync(
            meter, new SendLimit(_time, TimeSpan.FromSeconds(_spec.DurationS), _spec.Amount, cancellationToken), _spec.Seed);
        return meter.Result() with { Payments = new SentPayments(Interlocked.Read(ref _answered), Interlocked.Read(ref _unanswered)) };
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        foreach (var channel in _channels)
        {
            await channel.DisposeAsync();
        }
    }

    private Task SendAsync(DriverMeter meter, SendLimit end, int seed) => _spec.RatePerS > 0
        ? SendWhenDueAsync(meter, end, seed)
        : Task.WhenAll(
            from connection in Enumerable.Range(0, _channels.Length)
            from slot in Enumerable.Range(0, _spec.InFlight + (connection < _spec.WithOneMore ? 1 : 0))
            select SendOneByOneAsync(_channels[connection], meter, end, seed + (((connection * (_spec.InFlight + 1)) + slot) * 1009)));

    private async Task SendOneByOneAsync(IRequestChannel channel, DriverMeter meter, SendLimit end, int seed)
    {
        // Callers begin in parallel on pool threads, not one after the other on this thread.
        await Task.Yield();
        var random = new RandomRequests(_spec.Accounts, new Random(seed));
        while (end.Admits())
        {
            var start = _time.GetTimestamp();
            meter.Count(await SendAsync(channel, random), _time.GetElapsedTime(start));
        }
    }

    private Task SendWhenDueAsync(DriverMeter meter, SendLimit end, int seed)
    {
        var random = new RandomRequests(_spec.Accounts, new Random(seed));
        var arrivals = new Arrivals(_spec.RatePerS);
        var loop = new OpenLoop(arrivals, _time);
        return loop.RunAsync(
            end.Bound(arrivals.Within(end.Duration)),
            async (request, due) =>
            {
                var outcome = await SendAsync(_channels[request % _channels.Length], random);
                meter.Count(outcome, _time.GetElapsedTime(loop.Start) - due);
            },
            end.Stopped);
    }

    private async Task<RequestOutcome> SendAsync(IRequestChannel channel, RandomRequests random)
    {
        if (random.IsAmong(_spec.BalancePercent))
        {
            return await channel.CheckAsync(random.Balance());
        }
        var outcome = await channel.PayAsync(random.Payment());
        Interlocked.Increment(ref outcome.Error is null ? ref _answered : ref _unanswered);
        return outcome;
    }

    private IRequestChannel Connect(string address) => _spec.Protocol switch
    {
        DriveProtocol.Unary => new UnaryChannel(address, _spec, _time),
        DriveProtocol.Stream => new DeadlineChannel(new StreamChannel(address, _time), TimeSpan.FromSeconds(_spec.DeadlineS), _time),
        DriveProtocol.Rest => new DeadlineChannel(new RestChannel(address), TimeSpan.FromSeconds(_spec.DeadlineS), _time),
        _ => throw new InvalidOperationException($"Unknown protocol {_spec.Protocol}."),
    };
}
