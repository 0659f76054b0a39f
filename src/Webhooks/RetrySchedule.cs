namespace Billing.Webhooks;

/// <summary>How long to wait before an event is tried again: exponentially longer, and each time up to half of it longer at random, so that accounts
/// that failed together are not tried together. Thread-safe.</summary>
internal sealed class RetrySchedule(WebhookOptions options, Random random)
{
    private readonly Lock _gate = new();

    /// <summary>The wait after a number of failures, from 1. It is at least what the receiver asks for, within the longest wait.</summary>
    public TimeSpan After(int failures, TimeSpan? asked)
    {
        var exponential = options.RetryDelay * Math.Pow(2, Math.Clamp(failures - 1, 0, 40));
        var bound = Min(exponential, options.RetryDelayMax);
        var wait = asked > bound ? Min(asked.Value, options.RetryDelayMax) : bound;
        lock (_gate)
        {
            return wait * (1 + (random.NextDouble() / 2));
        }
    }

    private static TimeSpan Min(TimeSpan one, TimeSpan other) => one < other ? one : other;
}
