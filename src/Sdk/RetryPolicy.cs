using Billing.Contracts;
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
    private readonly TimeProvider _time;
    private readonly Func<RpcException, bool> _handles;
    private readonly ResiliencePipeline _furtherTries;

    private RetryPolicy(BillingClientOptions options, TimeProvider time, Func<RpcException, bool> handles)
    {
        _options = options;
        _time = time;
        _handles = handles;
        _furtherTries = FurtherTries();
    }

    /// <summary>For calls of one answer: what the proxy did not take, and what a broken connection left unknown. A transaction id
    /// makes the latter as safe to send again as the former.</summary>
    public static RetryPolicy ForCalls(BillingClientOptions options, TimeProvider time) =>
        new(options, time, e => IsTransient(e.StatusCode) || IsBrokenConnection(e.Status));

    /// <summary>For streams: also what a connection that breaks in the middle looks like. What was on its way is sent again
    /// under the same ids, so nothing is done twice.</summary>
    public static RetryPolicy ForStreams(BillingClientOptions options, TimeProvider time) =>
        new(options, time, e => IsTransient(e.StatusCode)
            || e.StatusCode is StatusCode.Internal or StatusCode.Unknown or StatusCode.Cancelled or StatusCode.Aborted);

    /// <summary>Whether a failure is tried again at all.</summary>
    public bool Handles(RpcException failure) => _options.RetriesMax > 0 && _handles(failure);

    /// <summary>Whether a payment that was answered with this error is sent again, having failed so often.</summary>
    public bool Handles(PaymentError error, int failures) =>
        failures <= _options.RetriesMax && IsTransient((StatusCode)error.StatusCode);

    /// <summary>The wait before a payment is sent again that has failed so often, from 1.</summary>
    public TimeSpan DelayAfter(int failures)
    {
        var delay = _options.RetryDelay * Math.Pow(2, failures - 1);
        return delay < DelayMax ? delay : DelayMax;
    }

    /// <summary>Tries again after a first failure, until it works or there have been enough tries.</summary>
    /// <exception cref="RpcException">The last try failed, or one in a way that is not tried again.</exception>
    public async Task<T> TryAgainAsync<T>(RpcException first, Func<Task<T>> attempt, CancellationToken cancellationToken)
    {
        await Task.Delay(Pushback(first) ?? _options.RetryDelay, _time, cancellationToken);
        return await _furtherTries.ExecuteAsync(async _ => await attempt(), cancellationToken);
    }

    private ResiliencePipeline FurtherTries()
    {
        if (_options.RetriesMax < 2)
        {
            return ResiliencePipeline.Empty;
        }
        var retries = new RetryStrategyOptions
        {
            ShouldHandle = a => ValueTask.FromResult(a.Outcome.Exception is RpcException e && _handles(e)),
            MaxRetryAttempts = _options.RetriesMax - 1,
            BackoffType = DelayBackoffType.Exponential,
            Delay = _options.RetryDelay * 2,
            MaxDelay = DelayMax,
            UseJitter = true,
            DelayGenerator = a => ValueTask.FromResult(a.Outcome.Exception is RpcException e ? Pushback(e) : null),
        };
        return new ResiliencePipelineBuilder { TimeProvider = _time }.AddRetry(retries).Build();
    }

    private static bool IsTransient(StatusCode status) => status is StatusCode.Unavailable or StatusCode.ResourceExhausted;

    // Said by this end of the connection, not by the proxy: a proxy that stopped or was cut off while it had the call is told as
    // Internal.
    private static bool IsBrokenConnection(Status status) =>
        status is { StatusCode: StatusCode.Internal, DebugException: HttpRequestException or IOException };

    private static TimeSpan? Pushback(RpcException e) =>
        int.TryParse(e.Trailers.GetValue(Trailers.RetryPushback), out var milliseconds) && milliseconds >= 0
            ? TimeSpan.FromMilliseconds(milliseconds)
            : null;
}
