using Billing.V1;
using Grpc.Core;
using Polly;
using Polly.Retry;

namespace Billing.Client;

/// <summary>Which failures are tried again, how often, and after what wait.</summary>
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

    /// <summary>For calls of one answer: what the proxy did not take, and what a broken connection left unknown. A transaction id
    /// makes the latter as safe to send again as the former.</summary>
    public static RetryPolicy ForCalls(BillingClientOptions options, TimeProvider time, RetryBudget budget, ClientTelemetry telemetry) =>
        new(options, time, budget, telemetry, e => IsTransient(e.StatusCode) || ProxyFailure.IsBrokenConnection(e.Status));

    /// <summary>For streams: also what a connection that breaks in the middle looks like. What was on its way is sent again
    /// under the same ids, so nothing is done twice.</summary>
    public static RetryPolicy ForStreams(BillingClientOptions options, TimeProvider time, RetryBudget budget, ClientTelemetry telemetry) =>
        new(options, time, budget, telemetry, e => IsTransient(e.StatusCode)
            || e.StatusCode is StatusCode.Internal or StatusCode.Unknown or StatusCode.Cancelled or StatusCode.Aborted);

    /// <summary>Whether a failure is tried again at all.</summary>
    public bool Handles(RpcException failure) => _options.RetriesMax > 0 && _handles(failure);

    /// <summary>Whether a payment that was answered with this error is sent again, having failed so often.</summary>
    public bool Handles(PaymentError error, int failures) =>
        failures <= _options.RetriesMax && IsTransient((StatusCode)error.StatusCode) && MayRetry();

    /// <summary>The wait before a payment is sent again that has failed so often, from 1.</summary>
    public TimeSpan DelayAfter(int failures)
    {
        var delay = _options.RetryDelay * Math.Pow(2, failures - 1);
        return delay < DelayMax ? delay : DelayMax;
    }

    /// <summary>Tries until it works, or there have been enough tries.</summary>
    /// <exception cref="RpcException">The last try failed, or one in a way that is not tried again.</exception>
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
            // Asked after the last try too, which must not take a retry from the budget.
            ShouldHandle = a => ValueTask.FromResult(
                a.Outcome.Exception is RpcException e && _handles(e) && a.AttemptNumber < _options.RetriesMax && MayRetry()),
            MaxRetryAttempts = _options.RetriesMax,
            BackoffType = DelayBackoffType.Exponential,
            Delay = _options.RetryDelay,
            MaxDelay = DelayMax,
            UseJitter = true,
            DelayGenerator = a => ValueTask.FromResult(
                (a.Outcome.Exception is RpcException e ? Outcomes.RetryAfter(e) : null) ?? (a.AttemptNumber == 0 ? _options.RetryDelay : null)),
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
