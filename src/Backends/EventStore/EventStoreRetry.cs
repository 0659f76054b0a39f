using Polly;
using Polly.Retry;

namespace Billing.Backends.EventStore;

/// <summary>Retries access to an event store that is unavailable, with exponential backoff and jitter.</summary>
/// <param name="time">The clock.</param>
/// <param name="random">For the jitter; a new one if null.</param>
internal sealed class EventStoreRetry(TimeProvider time, Random? random = null)
{
    /// <summary>The first wait; each further one is about twice as long.</summary>
    public static readonly TimeSpan DelayFirst = TimeSpan.FromMilliseconds(5);

    /// <summary>The longest wait.</summary>
    public static readonly TimeSpan DelayMax = TimeSpan.FromSeconds(1);

    /// <summary>How often work on many commands is tried before those are looked for that it fails for:
    /// conflicts with another owner are over by then.</summary>
    public const int AttemptsTogether = 5;

    private readonly Random _random = random ?? new Random(unchecked((int)time.GetTimestamp()));
    private readonly Lock _gate = new();

    /// <summary>Retries until it succeeds or is cancelled: for work that must not be given up.
    /// Attempts are numbered from 1.</summary>
    /// <param name="handles">The failures after which to retry.</param>
    /// <param name="onRetry">Receives each failure, with the number of the attempt.</param>
    public Retries Unlimited(Func<Exception, bool> handles, Action<Exception, int> onRetry) =>
        Build(handles, onRetry, int.MaxValue);

    /// <summary>As <see cref="Unlimited"/>, but a failure that may concern some of the commands only is thrown from
    /// attempt <see cref="AttemptsTogether"/> on, so that they can be tried apart; the attempts are those since
    /// <see cref="Retries.Begin"/>. Not thread-safe.</summary>
    public Retries Together(Func<Exception, bool> handles, Action<Exception, int> onRetry)
    {
        Retries? together = null;
        return together = Unlimited(
            e => handles(e) && !(EventStoreFailure.IsOfSomeRows(e) && together!.Attempts >= AttemptsTogether), onRetry);
    }

    /// <summary>Retries a few times, over a few seconds and as long as it takes to look for a primary, while the store
    /// is unavailable as a whole: for reads of <see cref="Shards.ShardedReader"/> that a caller can repeat.</summary>
    public Retries Limited(Action<Exception, int> onRetry) => Build(EventStoreFailure.IsOfAllRows, onRetry, 10);

    private Retries Build(Func<Exception, bool> handles, Action<Exception, int> onRetry, int attempts) =>
        new(new ResiliencePipelineBuilder { TimeProvider = time }
            .AddRetry(new RetryStrategyOptions
            {
                ShouldHandle = arguments => ValueTask.FromResult(
                    arguments.Outcome.Exception is { } e and not OperationCanceledException && handles(e)),
                MaxRetryAttempts = attempts,
                BackoffType = DelayBackoffType.Exponential,
                Delay = DelayFirst,
                MaxDelay = DelayMax,
                UseJitter = true,
                Randomizer = NextShare,
                OnRetry = arguments =>
                {
                    onRetry(arguments.Outcome.Exception!, arguments.AttemptNumber + 1);
                    return ValueTask.CompletedTask;
                },
            })
            .Build());

    private double NextShare()
    {
        lock (_gate)
        {
            return _random.NextDouble();
        }
    }

    public sealed class Retries(ResiliencePipeline pipeline)
    {
        /// <summary>Number of attempts that have begun since <see cref="Begin"/>.</summary>
        public int Attempts { get; private set; }

        /// <summary>Counts the attempts from zero again.</summary>
        public void Begin() => Attempts = 0;

        public async Task<T> ExecuteAsync<T>(Func<CancellationToken, Task<T>> work, CancellationToken cancellationToken)
        {
            // On the caller's synchronisation context, so that a simulation decides what runs when; a host has none.
            var context = ResilienceContextPool.Shared.Get(continueOnCapturedContext: true, cancellationToken);
            try
            {
                return await pipeline.ExecuteAsync(
                    static async (attempt, call) =>
                    {
                        call.Retries.Attempts++;
                        return await call.Work(attempt.CancellationToken);
                    },
                    context, (Retries: this, Work: work));
            }
            finally
            {
                ResilienceContextPool.Shared.Return(context);
            }
        }

        public Task ExecuteAsync(Func<CancellationToken, Task> work, CancellationToken cancellationToken) =>
            ExecuteAsync(
                async token =>
                {
                    await work(token);
                    return true;
                },
                cancellationToken);
    }
}
