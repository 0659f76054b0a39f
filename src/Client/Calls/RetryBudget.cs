namespace Billing.Client;

/// <summary>The number of retries still allowed: each call adds its share, each retry takes one. Thread-safe.</summary>
/// <param name="share">Retries that each call adds; null for no limit.</param>
/// <param name="reserve">The maximum and initial number of retries.</param>
internal sealed class RetryBudget(double? share, int reserve)
{
    private const long Retry = 1_000_000;

    private readonly long _max = reserve * Retry;
    private readonly long _earned = (long)((share ?? 0) * Retry);
    private long _left = reserve * Retry;

    /// <summary>Adds the share of one call.</summary>
    public void AddShare()
    {
        // One read if nothing fails. Concurrent calls may exceed the reserve by their shares.
        if (Volatile.Read(ref _left) < _max)
        {
            Interlocked.Add(ref _left, _earned);
        }
    }

    /// <summary>Takes one retry.</summary>
    /// <returns>False if none is left.</returns>
    public bool TrySpend()
    {
        if (share is null)
        {
            return true;
        }
        var left = Volatile.Read(ref _left);
        while (left >= Retry)
        {
            var before = Interlocked.CompareExchange(ref _left, left - Retry, left);
            if (before == left)
            {
                return true;
            }
            left = before;
        }
        return false;
    }
}
