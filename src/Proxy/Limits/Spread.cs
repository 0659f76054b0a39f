namespace Billing.Proxy.Limits;

/// <summary>Numbers from 0 up to 1, spread evenly however many are taken, each far from the one before. Thread-safe.
/// </summary>
/// <param name="start">Where the sequence begins.</param>
internal sealed class Spread(uint start = 0)
{
    // The fractional parts of successive multiples of this number are spread evenly between 0 and 1, for any range of
    // multiples (D. E. Knuth, The Art of Computer Programming 3, section 6.4).
    private const double Golden = 0.6180339887498949;

    private long _taken = start;

    /// <summary>The next one.</summary>
    public double Next() => Interlocked.Increment(ref _taken) * Golden % 1;
}
