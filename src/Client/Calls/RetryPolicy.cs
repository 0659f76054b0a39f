using Billing.V1;
using Grpc.Core;
using Polly;
using Polly.Retry;

namespace Billing.Client;

/// <summary>Which failures are retried, how often, and after what delay.</summary>
internal sealed class RetryPolicy
{
    private static readonly TimeSpan DelayMax = TimeSpan.FromSeconds(2);

    private readonly BillingClientOptions _options;
    private readonly RetryBudget _budget;
    private readonly ClientTelemetry _telemetry;
    private readonly Func<RpcException, bool> _handles;
    private readonly ResiliencePipeline _pipeline;

    private RetryPolicy(
        BillingClientOptions options, TimeProvider time, RetryBudget budget, ClientTelemetry telemetry, Func<RpcException, bool> handles)
    {
        _options = options;
        _budget = budget;
        _telemetry = telemetry;
        _handles = handles;
        _pipeline = Pipeline(time);
    }

    /// <summary>Returns the policy for unary calls: retries calls that the proxy did not process, and calls whose outcome is
    /// unknown because the connection broke. The transaction id makes both safe to retry.</summary>
    public static RetryPolicy ForCalls(BillingClientOptions options, TimeProvider time, RetryBudget budget, ClientTelemetry telemetry) =>
        new(options, time, budget, telemetry, e => IsTransient(e.StatusCode) || ProxyFailure.IsBrokenConnection(e.Status));

    /// <summary>Returns the policy for streams: also retries the failures of a connection that breaks during a stream. The
    /// requests in flight are sent again with the same ids, so nothing is processed twice.</summary>
    public static RetryPolicy ForStreams(BillingClientOptions options, TimeProvider time, RetryBudget budget, ClientTelemetry telemetry) =>
        new(options, time, budget, telemetry, e => IsTransient(e.StatusCode)
            || e.StatusCode is StatusCode.Internal or StatusCode.Unknown or StatusCode.Cancelled or StatusCode.Aborted);

    /// <summary>Returns whether the policy retries a failure.</summary>
    public bool Handles(RpcException failure) => _options.RetriesMax > 0 && _handles(failure);

    /// <summary>Returns whether a payment that was answered with this error is retried, after this number of failures.</summary>
    public bool Handles(PaymentError error, int failures) =>
        failures <= _options.RetriesMax && IsTransient((StatusCode)error.StatusCode) && MayRetry();

    /// <summary>Returns the delay before the retry of a payment, by its number of failures, from 1.</summary>
    public TimeSpan DelayAfter(int failures)
    {
        var delay = _options.RetryDelay * Math.Pow(2, failures - 1);
        return delay < DelayMax ? delay : DelayMax;
    }

    /// <summary>Makes attempts until one succeeds or no retry is left.</summary>
    /// <exception cref="RpcException">The last attempt failed, or one with a failure that is not retried.</exception>
    public ValueTask<T> ExecuteAsync<T, TState>(
        Func<TState, CancellationToken, ValueTask<T>> attempt, TState state, CancellationToken cancellationToken) =>
        _pipeline.ExecuteAsync(attempt, state, cancellationToken);

    private ResiliencePipeline Pipeline(TimeProvider time)
    {
        if (_options.RetriesMax == 0)
        {
            return ResiliencePipeline.Empty;
        }
        var retries = new RetryStrategyOptions
        {
            // Also called after the last attempt, which must not take a retry from the budget.
            ShouldHandle = a => ValueTask.FromResult(
                a.Outcome.Exception is RpcException e && _handles(e) && a.AttemptNumber < _options.RetriesMax && MayRetry()),
            MaxRetryAttempts = _options.RetriesMax,
            BackoffType = DelayBackoffType.Exponential,
            Delay = _options.RetryDelay,
            MaxDelay = DelayMax,
            UseJitter = true,
            DelayGenerator = a => ValueTask.FromResult(
                (a.Outcome.Exception is RpcException e ? ErrorDetails.RetryAfter(e) : null) ?? (a.AttemptNumber == 0 ? _options.RetryDelay : null)),
        };
        return new ResiliencePipelineBuilder { TimeProvider = time }.AddRetry(retries).Build();
    }

    private bool MayRetry()
    {
        if (_budget.TrySpend())
        {
            return true;
        }
        _telemetry.RetryRefused();
        return false;
    }

    private static bool IsTransient(StatusCode status) => status is StatusCode.Unavailable or StatusCode.ResourceExhausted;
}
