using Microsoft.Extensions.Options;

namespace Billing.Backends.CardNetwork;

/// <summary>Simulates an external card network that answers after a delay. A waiting call
/// never blocks a thread.</summary>
internal sealed class SimulatedCardNetwork(IOptions<JitterOptions> options, TimeProvider time) : IDisposable
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    private readonly JitterOptions _options = options.Value;
    private readonly Random _random = new(
        options.Value.Seed == 0 ? unchecked((int)time.GetTimestamp()) : options.Value.Seed);
    private readonly Lock _gate = new();
    private readonly SemaphoreSlim? _places =
        options.Value.ConcurrencyMax > 0 ? new SemaphoreSlim(options.Value.ConcurrencyMax) : null;
    private readonly Dictionary<(long Due, CancellationToken Cancelled), Task> _ends = [];

    /// <summary>Asks the network about a payment. The task is already completed if jitter is disabled.</summary>
    public Task AuthoriseAsync(CancellationToken cancellationToken) =>
        DelayAsync(_options.PaymentMin, _options.PaymentMax, cancellationToken);

    /// <summary>Asks the network about a balance. The task is already completed if jitter is disabled.</summary>
    public Task EnquireAsync(CancellationToken cancellationToken) =>
        DelayAsync(_options.BalanceMin, _options.BalanceMax, cancellationToken);

    public void Dispose() => _places?.Dispose();

    private Task DelayAsync(TimeSpan min, TimeSpan max, CancellationToken cancellationToken)
    {
        if (!_options.Enabled)
        {
            return Task.CompletedTask;
        }
        lock (_gate)
        {
            var delay = min + ((max - min) * _random.NextDouble());
            return _places is not null ? InTurnAsync(_places, delay, cancellationToken)
                : max - min < Step ? Task.Delay(delay, time, cancellationToken)
                : EndOf(delay, min, cancellationToken);
        }
    }

    // Calls that end within the same 10 ms share one timer: a burst has tens of thousands in flight, and a
    // timer for each would cost more than the work they wait for.
    private Task EndOf(TimeSpan delay, TimeSpan min, CancellationToken cancellationToken)
    {
        var now = time.GetElapsedTime(0).Ticks;
        var due = (now + delay.Ticks) / Step.Ticks * Step.Ticks;
        due += due - now < min.Ticks ? Step.Ticks : 0;
        if (_ends.TryGetValue((due, cancellationToken), out var known))
        {
            return known;
        }
        var end = EndAsync(due, TimeSpan.FromTicks(due - now), cancellationToken);
        if (!end.IsCompleted)
        {
            _ends.Add((due, cancellationToken), end);
        }
        return end;
    }

    private async Task EndAsync(long due, TimeSpan delay, CancellationToken cancellationToken)
    {
        try
        {
            await Task.Delay(delay, time, cancellationToken);
        }
        finally
        {
            lock (_gate)
            {
                _ends.Remove((due, cancellationToken));
            }
        }
    }

    private async Task InTurnAsync(SemaphoreSlim places, TimeSpan delay, CancellationToken cancellationToken)
    {
        await places.WaitAsync(cancellationToken);
        try
        {
            await Task.Delay(delay, time, cancellationToken);
        }
        finally
        {
            places.Release();
        }
    }
}
