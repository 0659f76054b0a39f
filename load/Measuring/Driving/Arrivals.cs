namespace Billing.Measuring.Driving;

/// <summary>When the requests of an open loop are due: request <c>n</c>, counted from 0, at <c>n / rate</c>.</summary>
/// <param name="ratePerS">Requests per second, above 0.</param>
public readonly struct Arrivals(double ratePerS)
{
    /// <summary>When a request is due, from the start.</summary>
    public TimeSpan TimeOf(long request) => TimeSpan.FromSeconds(request / ratePerS);

    /// <summary>How many requests are due by a moment, that moment included.</summary>
    public long DueBy(TimeSpan elapsed) => elapsed < TimeSpan.Zero ? 0 : (long)Math.Floor(elapsed.TotalSeconds * ratePerS) + 1;

    /// <summary>How many requests become due within a time, its end left out.</summary>
    public long Within(TimeSpan duration) => (long)Math.Ceiling(duration.TotalSeconds * ratePerS);
}
