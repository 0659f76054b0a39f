namespace Billing.Webhooks;

/// <summary>How long to wait before an event is tried again: exponentially longer, and each time up to half of it
/// longer at random, so that accounts that failed together are not tried together. Thread-safe.</summary>
internal sealed class RetrySchedule(WebhookOptions options, Random random)
{
    private readonly Lock _gate = new();

    /// <summary>The longest wait.</summary>
    public static TimeSpan Longest(WebhookOptions options) => options.RetryDelayMax * 1.5;

    /// <summary>The wait after a number of failures, from 1. It is at least what the receiver asks for,
    /// within the longest wait.</summary>
    public TimeSpan After(int failures, TimeSpan? asked)
    {
        var max = options.RetryDelayMax;
        var exponential = TimeSpan.FromSeconds(
            Math.Min(options.RetryDelay.TotalSeconds * Math.Pow(2, failures - 1), max.TotalSeconds));
        var wait = asked > max ? max : asked > exponential ? asked.Value : exponential;
        lock (_gate)
        {
            return wait * (1 + (random.NextDouble() / 2));
        }
    }
}
