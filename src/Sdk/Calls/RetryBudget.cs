namespace Billing.Client;

/// <summary>How many calls may still be sent again: each first call adds its share, each retry takes one whole. Safe from any
/// thread.</summary>
/// <param name="share">Retries that a call allows for; null for any number.</param>
/// <param name="reserve">Retries that can be saved up, and what there is to begin with.</param>
internal sealed class RetryBudget(double? share, int reserve)
{
    private const long Retry = 1_000_000;

    private readonly long _max = reserve * Retry;
    private readonly long _earned = (long)((share ?? 0) * Retry);
    private long _left = reserve * Retry;

    /// <summary>A call is made.</summary>
    public void Earn()
    {
        // As long as nothing goes wrong this is one read. Calls that add at the same moment may go above the reserve by what they add.
        if (Volatile.Read(ref _left) < _max)
        {
            Interlocked.Add(ref _left, _earned);
        }
    }

    /// <summary>Takes one retry.</summary>
    /// <returns>False where none is left.</returns>
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
