using Microsoft.Extensions.Options;

namespace Billing.Backends.CardNetwork;

/// <summary>Stands for the world outside: a card network that takes its time. A waiting call costs a timer, never a
/// thread.</summary>
public sealed class SimulatedCardNetwork : IDisposable
{
    private readonly JitterOptions _options;
    private readonly TimeProvider _time;
    private readonly Random _random;
    private readonly Lock _gate = new();
    private readonly SemaphoreSlim? _places;

    /// <summary>Creates the network.</summary>
    public SimulatedCardNetwork(IOptions<JitterOptions> options, TimeProvider time)
    {
        _options = options.Value;
        _time = time;
        _random = new Random(_options.Seed == 0 ? unchecked((int)time.GetTimestamp()) : _options.Seed);
        _places = _options.ConcurrencyMax > 0 ? new SemaphoreSlim(_options.ConcurrencyMax) : null;
    }

    /// <summary>Asks the network about a payment. It is completed already where there is no jitter.</summary>
    public Task AuthoriseAsync(CancellationToken cancellationToken) =>
        DelayAsync(_options.PaymentMin, _options.PaymentMax, cancellationToken);

    /// <summary>Asks the network about a balance. It is completed already where there is no jitter.</summary>
    public Task EnquireAsync(CancellationToken cancellationToken) =>
        DelayAsync(_options.BalanceMin, _options.BalanceMax, cancellationToken);

    /// <inheritdoc/>
    public void Dispose() => _places?.Dispose();

    private Task DelayAsync(TimeSpan min, TimeSpan max, CancellationToken cancellationToken)
    {
        if (!_options.Enabled)
        {
            return Task.CompletedTask;
        }
        double share;
        lock (_gate)
        {
            share = _random.NextDouble();
        }
        var delay = min + ((max - min) * share);
        return _places is null ? Task.Delay(delay, _time, cancellationToken) : InTurnAsync(_places, delay, cancellationToken);
    }

    private async Task InTurnAsync(SemaphoreSlim places, TimeSpan delay, CancellationToken cancellationToken)
    {
        await places.WaitAsync(cancellationToken);
        try
        {
            await Task.Delay(delay, _time, cancellationToken);
        }
        finally
        {
            places.Release();
        }
    }
}
