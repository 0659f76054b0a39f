namespace Billing.Measuring.Driving;

/// <summary>The times at which the requests of an open loop are due: request <c>n</c>, counted from 0, at <c>n / rate</c>.
/// </summary>
/// <param name="ratePerS">Requests per second, above 0.</param>
public readonly struct Arrivals(double ratePerS)
{
    /// <summary>Returns the time from the start at which a request is due.</summary>
    public TimeSpan TimeOf(long request) => TimeSpan.FromSeconds(request / ratePerS);

    /// <summary>Returns the number of requests due up to and including a moment.</summary>
    public long DueBy(TimeSpan elapsed) => elapsed < TimeSpan.Zero ? 0 : (long)Math.Floor(elapsed.TotalSeconds * ratePerS) + 1;

    /// <summary>Returns the number of requests that become due within a duration, excluding its end.</summary>
    public long Within(TimeSpan duration) => (long)Math.Ceiling(duration.TotalSeconds * ratePerS);
}
