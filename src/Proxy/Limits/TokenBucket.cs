namespace Billing.Proxy.Limits;

/// <summary>A bucket of tokens, one for each call: it fills at a steady rate up to its size, and begins full.
/// Thread-safe.</summary>
/// <param name="perSecond">The number of tokens that it gets per second; above zero.</param>
/// <param name="size">The most tokens that it holds; at least one.</param>
/// <param name="time">The clock.</param>
internal sealed class TokenBucket(double perSecond, int size, TimeProvider time)
{
    private readonly Lock _gate = new();
    private double _tokens = size;
    private long _filledAt = time.GetTimestamp();

    /// <summary>Whether it is full, like a new one.</summary>
    public bool IsFull
    {
        get
        {
            lock (_gate)
            {
                Fill();
                return _tokens >= size;
            }
        }
    }

    /// <summary>Takes a token.</summary>
    /// <returns>Null; or the time until there is a token, if there is none.</returns>
    public TimeSpan? Take()
    {
        lock (_gate)
        {
            Fill();
            if (_tokens < 1)
            {
                return TimeFor(1 - _tokens);
            }
            _tokens--;
            return null;
        }
    }

    /// <summary>Gives a token back that was taken for nothing.</summary>
    public void Return()
    {
        lock (_gate)
        {
            _tokens = Math.Min(size, _tokens + 1);
        }
    }

    /// <summary>Takes the next token, and waits for it if the bucket does not have it yet.</summary>
    public async ValueTask TakeNextAsync(CancellationToken cancellationToken)
    {
        double missing;
        lock (_gate)
        {
            Fill();
            _tokens--;
            missing = -_tokens;
        }
        if (missing <= 0)
        {
            return;
        }
        try
        {
            await Task.Delay(TimeFor(missing), time, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            lock (_gate)
            {
                _tokens++;
            }
            throw;
        }
    }

    private void Fill()
    {
        var now = time.GetTimestamp();
        _tokens = Math.Min(size, _tokens + ((double)(now - _filledAt) / time.TimestampFrequency * perSecond));
        _filledAt = now;
    }

    // Rounded up: before this time there is no token.
    private TimeSpan TimeFor(double tokens) =>
        TimeSpan.FromTicks((long)Math.Ceiling(tokens / perSecond * TimeSpan.TicksPerSecond));
}
