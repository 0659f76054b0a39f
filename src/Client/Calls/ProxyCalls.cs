using Grpc.Core;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.Client;

/// <summary>The calls of one client and what they share: the proxies, the token, the budget of retries,
/// the log and the telemetry.</summary>
internal sealed class ProxyCalls : IDisposable
{
    private readonly BillingClientOptions _options;
    private readonly ClientTelemetry _telemetry;
    private readonly RetryBudget _budget;
    private readonly BearerToken _token;
    private readonly ProxyPool _proxies;
    private readonly RetryPolicy _streamRetries;
    private readonly ILogger _log;

    /// <param name="options">The options.</param>
    /// <param name="section">What the names of settings begin with in messages, unless the options say it.</param>
    /// <param name="time">The clock; the system clock if null.</param>
    /// <exception cref="ArgumentException">The options are invalid; the message names them.</exception>
    public ProxyCalls(BillingClientOptions options, string section, TimeProvider? time)
    {
        ArgumentNullException.ThrowIfNull(options);
        section = options.Path ?? section;
        if (options.ValidationErrors(section).ToList() is { Count: > 0 } problems)
        {
            throw new ArgumentException(string.Join(' ', problems), nameof(options));
        }
        _options = options;
        Time = time ?? TimeProvider.System;
        _log = (options.LoggerFactory ?? NullLoggerFactory.Instance).CreateLogger(ClientTelemetry.Name);
        _telemetry = new ClientTelemetry(Time);
        _budget = new RetryBudget(options.RetryShare, options.RetryReserve, _telemetry.RetryRefused);
        _token = new BearerToken(options, section, Time);
        _proxies = new ProxyPool(options, section, Time, _log);
        Unary = new UnaryCalls(options, Time, _proxies, _budget, _token, _telemetry, _log);
        var renewsToken = options.TokenProvider is not null;
        _streamRetries = new RetryPolicy(options, Time, _budget, e => RetryPolicy.IsRetriedStream(e, renewsToken));
        _telemetry.Observe(() => _proxies.All);
        Invoker = new RetryingInvoker(this);
    }

    public TimeProvider Time { get; }

    public UnaryCalls Unary { get; }

    public CallInvoker Invoker { get; }

    public int StreamWindow => _options.StreamWindow;

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
    public static TimeSpan TimerOf(TimeSpan wait) =>
        TimeSpan.FromMilliseconds(Math.Clamp(wait.TotalMilliseconds, 0, uint.MaxValue - 1));

    /// <summary>Returns the options of a call.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public CallOptions Options(TimeSpan? deadline, CancellationToken cancellationToken)
    {
        BillingClientOptions.CheckDeadline(deadline);
        return new CallOptions(
            deadline: deadline is { } time ? (Time.GetUtcNow() + time).UtcDateTime : null,
            cancellationToken: cancellationToken);
    }

    /// <summary>Returns what has become of a request, of which a failure is an outcome too.</summary>
    /// <exception cref="OperationCanceledException">The caller cancelled it.</exception>
    public static async Task<Outcome<T>> OutcomeAsync<TAnswer, T>(
        Guid id, AsyncUnaryCall<TAnswer> call,
        Func<Guid, TAnswer, Outcome<T>> answered, CancellationToken cancellationToken)
        where T : Answer
    {
        try
        {
            return answered(id, await call.ConfigureAwait(false));
        }
        catch (RpcException e)
        {
            ThrowIfGivenUp(e, cancellationToken);
            return Outcomes.Of<T>(id, e);
        }
    }

    public BulkPayments Bulk(Metadata? headers = null) =>
        new(Streams("billing.v1.BillingService/MakePayments", headers), _budget, _options.StreamWindow, Time);

    public StreamCalls Streams(string method, Metadata? headers = null) =>
        new(method, headers, _options, _proxies, _streamRetries, _token, _telemetry, _log);

    public void Dispose()
    {
        _proxies.Dispose();
        _telemetry.Dispose();
    }
}
