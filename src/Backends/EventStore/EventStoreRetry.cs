using Polly;
using Polly.Retry;

namespace Billing.Backends.EventStore;

/// <summary>Retries access to an event store that is unavailable, with exponential backoff.</summary>
public sealed class EventStoreRetry
{
    /// <summary>The first wait; each further one is about twice as long.</summary>
    public static readonly TimeSpan DelayFirst = TimeSpan.FromMilliseconds(5);

    /// <summary>The longest wait.</summary>
    public static readonly TimeSpan DelayMax = TimeSpan.FromSeconds(1);

    private readonly TimeProvider _time;
    private readonly Random _random;
    private readonly Lock _gate = new();

    /// <summary>Creates the policy.</summary>
    public EventStoreRetry(TimeProvider time)
        : this(time, new Random(unchecked((int)time.GetTimestamp())))
    {
    }

    /// <summary>Creates the policy.</summary>
    /// <param name="time">Measures the waits.</param>
    /// <param name="random">Adds jitter to the waits.</param>
    internal EventStoreRetry(TimeProvider time, Random random)
    {
        _time = time;
        _random = random;
    }

    /// <summary>Retries until it succeeds or is cancelled: for work that must not be given up.</summary>
    /// <param name="handles">Which failures are retried.</param>
    /// <param name="onRetry">Called for each of these failures, with the number of the attempt, from 1.</param>
    public Retries Unlimited(Func<Exception, bool> handles, Action<Exception, int> onRetry) => Build(handles, onRetry, int.MaxValue);

    /// <summary>Retries a few times, over a few seconds, while the store is unavailable: for requests that a caller can repeat.
    /// </summary>
    /// <param name="onRetry">Called for each failure, with the number of the attempt, from 1.</param>
    public Retries Limited(Action<Exception, int> onRetry) => Build(EventStoreFailure.IsUnavailable, onRetry, 10);

    private Retries Build(Func<Exception, bool> handles, Action<Exception, int> onRetry, int attempts) =>
        new(new ResiliencePipelineBuilder { TimeProvider = _time }
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

    /// <summary>Executes work with retries.</summary>
    public sealed class Retries
    {
        private readonly ResiliencePipeline _pipeline;

        internal Retries(ResiliencePipeline pipeline) => _pipeline = pipeline;

        /// <summary>Executes work, and retries it as the policy says.</summary>
        /// <returns>The result of the work.</returns>
        /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
        public async Task<T> ExecuteAsync<T>(Func<CancellationToken, Task<T>> work, CancellationToken cancellationToken)
        {
            // On the caller's synchronisation context, so that a simulation decides what runs when; a host has none.
            var context = ResilienceContextPool.Shared.Get(continueOnCapturedContext: true, cancellationToken);
            try
            {
                return await _pipeline.ExecuteAsync(
                    static async (attempt, work) => await work(attempt.CancellationToken), context, work);
            }
            finally
            {
                ResilienceContextPool.Shared.Return(context);
            }
        }

        /// <inheritdoc cref="ExecuteAsync{T}(Func{CancellationToken, Task{T}}, CancellationToken)"/>
        public Task ExecuteAsync(Func<CancellationToken, Task> work, CancellationToken cancellationToken) => ExecuteAsync(
            async token =>
            {
                await work(token);
                return true;
            },
            cancellationToken);
    }
}
