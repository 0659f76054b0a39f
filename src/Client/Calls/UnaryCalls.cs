using System.Runtime.ExceptionServices;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Makes unary calls: selects the proxy, retries, updates the circuit breakers and records telemetry.</summary>
internal sealed class UnaryCalls(
    BillingClientOptions options, TimeProvider time, ProxyPool proxies, RetryBudget budget, BearerToken token, ClientTelemetry telemetry)
{
    private readonly RetryPolicy _retries = new(options, time, budget, RetryPolicy.IsRetriedCall);

    /// <exception cref="RpcException">The last attempt failed, or one with a failure that is not retried.</exception>
    public async Task<TAnswer> RunAsync<TRequest, TAnswer>(
        UnaryCall<TRequest, TAnswer> call, TimeSpan? deadline, CancellationToken cancellationToken)
    {
        using var measured = telemetry.Begin(call.Method);
        // One deadline for all attempts, so that retries never exceed the caller's deadline.
        var left = deadline ?? options.Deadline;
        var end = time.GetUtcNow() + left;
        call.Turn = proxies.NextTurn();
        budget.AddShare();
        try
        {
            call.Options = new CallOptions(await token.HeadersAsync(left, cancellationToken), end.UtcDateTime, cancellationToken);
            var answer = await TryAsync(call, cancellationToken);
            measured.Ended(failure: null);
            return answer;
        }
        catch (Exception e)
        {
            measured.Ended(e);
            throw;
        }
    }

    /// <summary>Makes a call whose failure is a result too.</summary>
    /// <exception cref="OperationCanceledException">The caller cancelled it.</exception>
    public async Task<TResult> ResultAsync<TRequest, TAnswer, TResult>(
        UnaryCall<TRequest, TAnswer> call, Guid id, Func<Guid, TAnswer, TResult> answered, Rejection<TResult> rejected, Uncertainty<TResult> unknown,
        TimeSpan? deadline, CancellationToken cancellationToken)
    {
        try
        {
            return answered(id, await RunAsync(call, deadline, cancellationToken));
        }
        catch (RpcException e)
        {
            ProxyCalls.ThrowIfGivenUp(e, cancellationToken);
            return Outcomes.Of(id, e, isFirstTry: call.Tries == 1, rejected, unknown);
        }
    }

    private async Task<TAnswer> TryAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call, CancellationToken cancellationToken)
    {
        try
        {
            return await call.TryAsync(proxies);
        }
        catch (RpcException e) when (_retries.Handles(e))
        {
            // Only failed calls pay for the retry pipeline: it receives the first failure as that of its own first attempt.
            call.FirstFailure = e;
        }
        return await _retries.ExecuteAsync(static (s, _) => s.Calls.TryAgainAsync(s.Call), (Calls: this, Call: call), cancellationToken);
    }

    private async ValueTask<TAnswer> TryAgainAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call)
    {
        if (call.FirstFailure is { } failure)
        {
            call.FirstFailure = null;
            ExceptionDispatchInfo.Throw(failure);
        }
        telemetry.Retried(call.Method);
        return await call.TryAsync(proxies);
    }
}

/// <summary>One call of a gRPC method, <c>service/method</c>, with all its attempts.</summary>
internal sealed class UnaryCall<TRequest, TAnswer>(
    string method, TRequest request, Func<Proxy, TRequest, CallOptions, Task<TAnswer>> send)
{
    public string Method => method;

    public int Tries { get; private set; }

    /// <summary>Deadline, headers and token, the same for all attempts.</summary>
    public CallOptions Options { get; set; }

    public uint Turn { get; set; }

    /// <summary>The failure of the first attempt, until the retry pipeline has received it.</summary>
    public RpcException? FirstFailure { get; set; }

    /// <summary>Makes an attempt on the next proxy.</summary>
    public async Task<TAnswer> TryAsync(ProxyPool proxies)
    {
        await proxies.ReadyAsync(Options.Deadline, Options.CancellationToken);
        // A retry goes to the proxy after the failed one. The shared turn could lead back to the failed proxy, because other
        // calls advance it in between.
        var turn = Tries++ == 0 ? Turn : Turn + 1;
        var proxy = proxies.Choose(ref turn);
        Turn = turn;
        try
        {
            var answer = await send(proxy, request, Options);
            await proxy.RecordOutcomeAsync(failure: null);
            return answer;
        }
        catch (RpcException e)
        {
            await proxy.RecordOutcomeAsync(e);
            throw;
        }
    }
}
