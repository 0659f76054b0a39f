namespace Billing.Proxy.Limits;

/// <summary>A bucket of tokens, one for each call: it fills at a steady rate up to its size, and begins full. Thread-safe.</summary>
/// <param name="perSecond">The number of tokens that it gets per second; above zero.</param>
/// <param name="size">The most tokens that it holds; at least one.</param>
/// <param name="time">The clock.</param>
internal sealed class TokenBucket(int perSecond, int size, TimeProvider time)
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

    /// <summary>Takes a token if there is one.</summary>
    /// <param name="wait">The time until there is one, if there is none.</param>
    /// <returns>Whether there was one.</returns>
    public bool TryTake(out TimeSpan wait)
    {
        lock (_gate)
        {
            Fill();
            wait = TimeFor(Math.Max(0, 1 - _tokens));
            if (_tokens < 1)
            {
                return false;
            }
            _tokens--;
            return true;
        }
    }

    /// <summary>Takes the next token, also one that the bucket does not have yet.</summary>
    /// <returns>The time until it has the token; zero if it had one.</returns>
    public TimeSpan Take()
    {
        lock (_gate)
        {
            Fill();
            _tokens--;
            return TimeFor(Math.Max(0, -_tokens));
        }
    }

    /// <summary>Puts a token back.</summary>
    public void Return()
    {
        lock (_gate)
        {
            _tokens++;
        }
    }

    private void Fill()
    {
        var now = time.GetTimestamp();
        _tokens = Math.Min(size, _tokens + ((double)(now - _filledAt) / time.TimestampFrequency * perSecond));
        _filledAt = now;
    }

    // Rounded up: before this time there is no token.
    private TimeSpan TimeFor(double tokens) => TimeSpan.FromTicks((long)Math.Ceiling(tokens / perSecond * TimeSpan.TicksPerSecond));
}
