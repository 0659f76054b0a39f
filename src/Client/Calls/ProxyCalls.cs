using Grpc.Core;

namespace Billing.Client;

/// <summary>The calls of one client and what they share: the proxies, the token, the budget of retries and the telemetry.</summary>
internal sealed class ProxyCalls : IDisposable
{
    private readonly BillingClientOptions _options;
    private readonly TimeProvider _time;
    private readonly ClientTelemetry _telemetry;
    private readonly RetryBudget _budget;
    private readonly BearerToken _token;
    private readonly ProxyPool _proxies;
    private readonly RetryPolicy _streamRetries;

    /// <param name="options">The options.</param>
    /// <param name="section">The section that messages about them name.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="ArgumentException">The options are invalid; the message names them.</exception>
    public ProxyCalls(BillingClientOptions options, string section, TimeProvider time)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.ValidationErrors(section).ToList() is { Count: > 0 } problems)
        {
            throw new ArgumentException(string.Join(' ', problems), nameof(options));
        }
        _options = options;
        _time = time;
        _telemetry = new ClientTelemetry(time);
        _budget = new RetryBudget(options.RetryShare, options.RetryReserve, _telemetry.RetryRefused);
        _token = new BearerToken(options, section, time);
        _proxies = new ProxyPool(options, section, time);
        Unary = new UnaryCalls(options, time, _proxies, _budget, _token, _telemetry);
        var renewsToken = options.TokenProvider is not null;
        _streamRetries = new RetryPolicy(options, time, _budget, e => RetryPolicy.IsRetriedStream(e, renewsToken));
        _telemetry.Observe(() => _proxies.All);
    }

    public UnaryCalls Unary { get; }

    /// <summary>Number of retries, of calls and of payments on streams.</summary>
    public long Retried => _telemetry.Retries;

    /// <exception cref="OperationCanceledException">The call has failed because its caller cancelled it.</exception>
    public static void ThrowIfGivenUp(RpcException failure, CancellationToken cancellationToken)
    {
        if (failure.StatusCode == StatusCode.Cancelled && cancellationToken.IsCancellationRequested)
        {
            throw new OperationCanceledException(failure.Status.Detail, failure, cancellationToken);
        }
    }

    /// <summary>Returns a wait as a timer takes it, none being longer than seven weeks.</summary>
    public static TimeSpan TimerOf(TimeSpan wait) => TimeSpan.FromMilliseconds(Math.Clamp(wait.TotalMilliseconds, 0, uint.MaxValue - 1));

    public BulkPayments Bulk() => new(Streams("billing.v1.BillingService/MakePayments"), _budget, _options.StreamWindow, _time);

    public StreamCalls Streams(string method) => new(method, _options, _proxies, _streamRetries, _token, _telemetry);

    public void Dispose()
    {
        _proxies.Dispose();
        _telemetry.Dispose();
    }
}
