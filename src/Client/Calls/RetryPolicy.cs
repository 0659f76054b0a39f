using Billing.Contracts;
using Billing.V1;
using Grpc.Core;
using Polly;
using Polly.Retry;

namespace Billing.Client;

/// <summary>Which failures are retried (see <see cref="IsRetriedCall"/> and <see cref="IsRetriedStream"/>), how often,
/// and after what delay.</summary>
internal sealed class RetryPolicy
{
    internal static readonly TimeSpan DelayMax = TimeSpan.FromSeconds(2);

    private static readonly ResiliencePropertyKey<DateTimeOffset> End = new("end");
    private static readonly ResiliencePropertyKey<TimeSpan> Delay = new("delay");
    private static readonly ResiliencePropertyKey<TimeSpan> Waited = new("waited");

    private readonly BillingClientOptions _options;
    private readonly RetryBudget _budget;
    private readonly Func<RpcException, bool> _handles;
    private readonly TimeProvider _time;
    private readonly Random _random;
    private readonly ResiliencePipeline _pipeline;

    public RetryPolicy(
        BillingClientOptions options, TimeProvider time, RetryBudget budget, Func<RpcException, bool> handles)
    {
        (_options, _time, _budget, _handles) = (options, time, budget, handles);
        _random = new Random(unchecked((int)time.GetTimestamp()));
        _pipeline = options.RetriesMax == 0 ? ResiliencePipeline.Empty : Pipeline(time);
    }

    /// <summary>Returns whether a unary call is retried: one that the proxy did not process, or whose outcome is
    /// unknown because the connection broke. The transaction id makes both safe to retry.</summary>
    public static bool IsRetriedCall(RpcException failure) =>
        IsTransient(failure.StatusCode) || ProxyFailure.IsBrokenConnection(failure.Status);

    /// <summary>Returns whether a stream is continued on another proxy, also after the failures of a connection that
    /// breaks during a stream, and, where there may be another token, after that of the stream has expired. The
    /// requests in flight are sent again with the same ids, so nothing is processed twice.</summary>
    public static bool IsRetriedStream(RpcException failure, bool renewsToken) =>
        IsTransient(failure.StatusCode)
        || failure.StatusCode is StatusCode.Internal or StatusCode.Unknown or StatusCode.Cancelled or StatusCode.Aborted
        || (renewsToken && ProxyFailure.Reason(failure) is ErrorReasons.TokenExpired);

    public bool Handles(RpcException failure) => _options.RetriesMax > 0 && IsRetried(failure);

    /// <summary>Returns whether a payment that was answered with this error is retried, after this number of
    /// failures.</summary>
    public bool Handles(PaymentError error, int failures) =>
        failures <= _options.RetriesMax && IsTransient((StatusCode)error.StatusCode) && _budget.TrySpend();

    /// <summary>Returns the delay before a retry, by the number of failures, from 1: the schedule of gRFC A6. A fifth
    /// more or less keeps callers that failed at the same time from retrying at the same time.</summary>
    public TimeSpan DelayAfter(int failures)
    {
        var seconds = Math.Min(Math.ScaleB(_options.RetryDelay.TotalSeconds, failures - 1), DelayMax.TotalSeconds);
        lock (_random)
        {
            return TimeSpan.FromSeconds(seconds * (0.8 + (0.4 * _random.NextDouble())));
        }
    }

    /// <summary>Makes attempts until one succeeds or no retry is left. A retry that would come too late is not waited
    /// for, whoever asks for the wait: the failure says what the platform advises.</summary>
    /// <param name="attempt">Makes an attempt.</param>
    /// <param name="state">What it is called with.</param>
    /// <param name="end">When it is too late; null for one that has no end, such as a stream:
    /// all its waits together are then no longer than the default deadline.</param>
    /// <param name="cancellationToken">Cancels the waits.</param>
    /// <exception cref="RpcException">The last attempt failed, or one with a failure that is not retried.</exception>
    public async ValueTask<T> ExecuteAsync<T, TState>(
        Func<TState, CancellationToken, ValueTask<T>> attempt, TState state,
        DateTimeOffset? end, CancellationToken cancellationToken)
    {
        var context = ResilienceContextPool.Shared.Get(cancellationToken);
        if (end is { } time)
        {
            context.Properties.Set(End, time);
        }
        try
        {
            return await _pipeline.ExecuteAsync(
                static (context, s) => s.Attempt(s.State, context.CancellationToken),
                context, (Attempt: attempt, State: state))
                .ConfigureAwait(false);
        }
        finally
        {
            ResilienceContextPool.Shared.Return(context);
        }
    }

    private ResiliencePipeline Pipeline(TimeProvider time) =>
        new ResiliencePipelineBuilder { TimeProvider = time }.AddRetry(new RetryStrategyOptions
        {
            // Also called after the last attempt, which must not take a retry from the budget.
            ShouldHandle = a => ValueTask.FromResult(
                a.Outcome.Exception is RpcException e && IsRetried(e) && a.AttemptNumber < _options.RetriesMax
                && IsInTime(a.Context.Properties, ProxyFailure.RetryAfter(e) ?? DelayAfter(a.AttemptNumber + 1))
                && _budget.TrySpend()),
            MaxRetryAttempts = _options.RetriesMax,
            DelayGenerator = a => ValueTask.FromResult<TimeSpan?>(a.Context.Properties.GetValue(Delay, TimeSpan.Zero)),
        }).Build();

    // Keeps the delay, which is drawn at random, and the sum of all.
    private bool IsInTime(ResilienceProperties properties, TimeSpan delay)
    {
        var waited = properties.GetValue(Waited, TimeSpan.Zero);
        var left = properties.TryGetValue(End, out var end) ? end - _time.GetUtcNow() : _options.Deadline - waited;
        if (delay >= left)
        {
            return false;
        }
        properties.Set(Delay, delay);
        properties.Set(Waited, waited + delay);
        return true;
    }

    private bool IsRetried(RpcException failure) => _handles(failure) && !ProxyFailure.ForbidsRetry(failure);

    private static bool IsTransient(StatusCode status) =>
        status is StatusCode.Unavailable or StatusCode.ResourceExhausted;
}

/// <summary>The number of retries still allowed: each call adds its share, each retry takes one. Thread-safe.</summary>
/// <param name="share">Retries that each call adds; null for no limit.</param>
/// <param name="reserve">The maximum and initial number of retries.</param>
/// <param name="refused">Called for each retry that is not allowed.</param>
internal sealed class RetryBudget(double? share, int reserve, Action? refused = null)
{
    private const long Retry = 1_000_000;

    private readonly long _max = reserve * Retry;
    private readonly long _earned = (long)((share ?? 0) * Retry);
    private long _left = reserve * Retry;

    public void AddShare()
    {
        // One read if nothing fails. Concurrent calls may exceed the reserve by their shares.
        if (Volatile.Read(ref _left) < _max)
        {
            Interlocked.Add(ref _left, _earned);
        }
    }

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
        refused?.Invoke();
        return false;
    }
}
