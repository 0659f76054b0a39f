using Microsoft.Extensions.Options;

namespace Billing.Backends.CardNetwork;

/// <summary>Stands for the world outside: a card network that takes its time. A waiting call costs a timer, never a
/// thread.</summary>
public sealed class SimulatedCardNetwork
{
    private readonly JitterOptions _options;
    private readonly TimeProvider _time;
    private readonly Random _random;
    private readonly Lock _gate = new();

    /// <summary>Creates the network.</summary>
    public SimulatedCardNetwork(IOptions<JitterOptions> options, TimeProvider time)
    {
        _options = options.Value;
        _time = time;
        _random = new Random(_options.Seed == 0 ? unchecked((int)time.GetTimestamp()) : _options.Seed);
    }

    /// <summary>Asks the network about a payment. It is completed already where there is no jitter.</summary>
    public Task AuthoriseAsync(CancellationToken cancellationToken) =>
        DelayAsync(_options.PaymentMin, _options.PaymentMax, cancellationToken);

    /// <summary>Asks the network about a balance. It is completed already where there is no jitter.</summary>
    public Task EnquireAsync(CancellationToken cancellationToken) =>
        DelayAsync(_options.BalanceMin, _options.BalanceMax, cancellationToken);

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
        return Task.Delay(min + ((max - min) * share), _time, cancellationToken);
    }
}
