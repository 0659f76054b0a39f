using Npgsql;
using Polly;
using Polly.Retry;

namespace Billing.Backends.EventStore;

/// <summary>How a backend treats an event store that is away.</summary>
public static class EventStoreRetry
{
    /// <summary>The first wait; each further one is about twice as long.</summary>
    public static readonly TimeSpan DelayFirst = TimeSpan.FromMilliseconds(5);

    /// <summary>The longest wait.</summary>
    public static readonly TimeSpan DelayMax = TimeSpan.FromSeconds(1);

    /// <summary>Whether PostgreSQL, or the way to it, failed in a manner that passes.</summary>
    public static bool IsAway(Exception e)
    {
        for (var cause = e; cause is not null; cause = cause.InnerException)
        {
            if (cause is NpgsqlException { IsTransient: true })
            {
                return true;
            }
        }
        return false;
    }

    /// <summary>Tries until it succeeds or is cancelled: for what must not be given up.</summary>
    public static ResiliencePipeline Forever(TimeProvider time, Func<Exception, bool> handles, Action<Exception, int> onRetry) =>
        Build(time, handles, onRetry, int.MaxValue);

    /// <summary>Tries a few times, over a few seconds: for what a caller can ask for again.</summary>
    public static ResiliencePipeline Briefly(TimeProvider time, Action<Exception, int> onRetry) =>
        Build(time, IsAway, onRetry, 10);

    private static ResiliencePipeline Build(
        TimeProvider time, Func<Exception, bool> handles, Action<Exception, int> onRetry, int attempts) =>
        new ResiliencePipelineBuilder { TimeProvider = time }
            .AddRetry(new RetryStrategyOptions
            {
                ShouldHandle = arguments => ValueTask.FromResult(
                    arguments.Outcome.Exception is { } e and not OperationCanceledException && handles(e)),
                MaxRetryAttempts = attempts,
                BackoffType = DelayBackoffType.Exponential,
                Delay = DelayFirst,
                MaxDelay = DelayMax,
                UseJitter = true,
                OnRetry = arguments =>
                {
                    onRetry(arguments.Outcome.Exception!, arguments.AttemptNumber + 1);
                    return ValueTask.CompletedTask;
                },
            })
            .Build();
}
