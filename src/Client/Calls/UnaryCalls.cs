using System.Runtime.ExceptionServices;
using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>Makes unary calls: selects the proxy, retries, updates the circuit breakers, logs and records
/// telemetry.</summary>
internal sealed class UnaryCalls(
    BillingClientOptions options, TimeProvider time, ProxyPool proxies, RetryBudget budget,
    BearerToken token, ClientTelemetry telemetry, ILogger log)
{
    private readonly RetryPolicy _retries = new(options, time, budget, RetryPolicy.IsRetriedCall);

    /// <exception cref="RpcException">The last attempt failed, or one with a failure that is not retried.</exception>
    public async Task<TAnswer> RunAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call)
        where TRequest : class
        where TAnswer : class
    {
        using var measured = telemetry.Begin(call.Name);
        call.Turn = proxies.NextTurn();
        budget.AddShare();
        try
        {
            // One deadline for all attempts, so that retries never exceed the caller's deadline.
            var now = time.GetUtcNow();
            var end = call.Options.Deadline is { } given ? new DateTimeOffset(given) : now + options.Deadline;
            // To the millisecond, since messages name it.
            var left = TimeSpan.FromMilliseconds(Math.Round((end - now).TotalMilliseconds));
            call.Begin(await token.HeadersAsync(left, call.Options.CancellationToken).ConfigureAwait(false), end, left);
            var answer = await TryAsync(call).ConfigureAwait(false);
            measured.Ended(failure: null);
            return answer;
        }
        catch (RpcException e)
        {
            var failure = call.Ended(e);
            measured.Ended(failure);
            if (!Outcomes.IsRejection(failure) && !call.Options.CancellationToken.IsCancellationRequested)
            {
                log.CallFailed(failure, call.Name, call.Tries);
            }
            throw failure;
        }
        catch (Exception e)
        {
            measured.Ended(e);
            throw;
        }
    }

    private async Task<TAnswer> TryAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call)
        where TRequest : class
        where TAnswer : class
    {
        try
        {
            return await call.TryAsync(proxies, log).ConfigureAwait(false);
        }
        catch (RpcException e) when (_retries.Handles(e))
        {
            // Only failed calls pay for the retry pipeline: it receives the first failure as that of its
            // own first attempt.
            call.FirstFailure = e;
        }
        return await _retries.ExecuteAsync(
            static (s, _) => s.Calls.TryAgainAsync(s.Call),
            (Calls: this, Call: call), call.End, call.Options.CancellationToken)
            .ConfigureAwait(false);
    }

    private async ValueTask<TAnswer> TryAgainAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call)
        where TRequest : class
        where TAnswer : class
    {
        if (call.FirstFailure is { } failure)
        {
            call.FirstFailure = null;
            ExceptionDispatchInfo.Throw(failure);
        }
        telemetry.Retried(call.Name);
        return await call.TryAsync(proxies, log).ConfigureAwait(false);
    }
}

/// <summary>One call of a gRPC method with all its attempts.</summary>
internal sealed class UnaryCall<TRequest, TAnswer>(
    Method<TRequest, TAnswer> method, string? host, CallOptions options, TRequest request)
    where TRequest : class
    where TAnswer : class
{
    private RpcException? _lastFailure;
    private AsyncUnaryCall<TAnswer>? _attempt;
    private RpcException? _failure;
    private Proxy? _proxy;
    private TimeSpan _time;
    private volatile bool _isGivenUp;

    /// <summary>The method, <c>service/method</c>.</summary>
    public string Name { get; } = method.FullName[1..];

    /// <summary>The answer to come.</summary>
    public Task<TAnswer>? Answer { get; set; }

    public int Tries { get; private set; }

    /// <summary>The deadline, headers and token, the same for all attempts.</summary>
    public CallOptions Options { get; private set; } = options;

    /// <summary>When it is too late for another attempt.</summary>
    public DateTimeOffset End { get; private set; }

    public uint Turn { get; set; }

    /// <summary>The failure of the first attempt, until the retry pipeline has received it.</summary>
    public RpcException? FirstFailure { get; set; }

    public Status Status =>
        _failure?.Status ?? _attempt?.GetStatus() ?? throw new InvalidOperationException("The call has not ended.");

    public Metadata Trailers =>
        _failure?.Trailers ?? _attempt?.GetTrailers() ?? throw new InvalidOperationException("The call has not ended.");

    /// <summary>Returns the headers of the answer, once there is one.</summary>
    public async Task<Metadata> HeadersAsync()
    {
        await Answer!.ConfigureAwait(false);
        return await _attempt!.ResponseHeadersAsync.ConfigureAwait(false);
    }

    /// <param name="token">The token; null for none.</param>
    /// <param name="end">The end of the time for all attempts.</param>
    /// <param name="time">The length of it.</param>
    public void Begin(Metadata? token, DateTimeOffset end, TimeSpan time)
    {
        (End, _time) = (end, time);
        Options = Options.WithHeaders(StreamCalls.Together(Options.Headers, token)!).WithDeadline(end.UtcDateTime);
    }

    /// <summary>Returns what the call failed with. Its own deadline says nothing of why there was no answer:
    /// the attempt before it does.</summary>
    public RpcException Ended(RpcException failure)
    {
        var last = failure;
        var text = ProxyFailure.Message(failure);
        if (failure.StatusCode == StatusCode.DeadlineExceeded && ProxyFailure.IsUnanswered(failure)
            && _proxy is not null)
        {
            text = $"There was no answer from {_proxy.Name} within {_time}.";
            if (_lastFailure is not null)
            {
                last = _lastFailure;
                text += $" The attempt before it failed: {last.StatusCode}: {ProxyFailure.Message(last)}";
            }
        }
        return _failure = ProxyFailure.After(
            Tries,
            new RpcException(new Status(failure.StatusCode, text, failure.Status.DebugException), last.Trailers));
    }

    /// <summary>Ends the current attempt; there is no other one.</summary>
    public void GiveUp()
    {
        _isGivenUp = true;
        _attempt?.Dispose();
    }

    /// <summary>Makes an attempt on the next proxy.</summary>
    public async Task<TAnswer> TryAsync(ProxyPool proxies, ILogger log)
    {
        await proxies.ReadyAsync(Options.Deadline, Options.CancellationToken).ConfigureAwait(false);
        if (_isGivenUp)
        {
            throw new RpcException(new Status(StatusCode.Cancelled, "The call was disposed of."));
        }
        // A retry goes to the proxy after the failed one. The shared turn could lead back to the failed proxy,
        // because other calls advance it in between.
        var turn = Tries++ == 0 ? Turn : Turn + 1;
        var proxy = _proxy = proxies.Choose(ref turn);
        Turn = turn;
        try
        {
            _attempt = proxy.Calls.AsyncUnaryCall(method, host ?? proxy.Name, Options, request);
            var answer = await _attempt.ConfigureAwait(false);
            await proxy.RecordOutcomeAsync(failure: null).ConfigureAwait(false);
            return answer;
        }
        catch (RpcException e)
        {
            await proxy.RecordOutcomeAsync(e).ConfigureAwait(false);
            if (!ProxyFailure.IsUnanswered(e))
            {
                _lastFailure = e;
                log.AttemptFailed(e, Name, Tries, proxy.Name);
            }
            throw;
        }
    }
}
