using System.Runtime.ExceptionServices;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Makes unary calls: selects the proxy, retries, updates the circuit breakers and records telemetry.</summary>
internal sealed class UnaryCalls(
    BillingClientOptions options, TimeProvider time, ProxyPool proxies, RetryBudget budget, BearerToken token, ClientTelemetry telemetry)
{
    private readonly RetryPolicy _retries = RetryPolicy.ForCalls(options, time, budget, telemetry);

    /// <exception cref="RpcException">The last attempt failed, or one with a failure that is not retried.</exception>
    public async Task<TAnswer> RunAsync<TRequest, TAnswer>(
        UnaryCall<TRequest, TAnswer> call, TimeSpan? deadline, CancellationToken cancellationToken)
    {
        using var measured = telemetry.Begin(call.Method);
        // One deadline for all attempts, so that retries never exceed the caller's deadline.
        call.Options = new CallOptions(
            token.IsFixed ? token.FixedHeaders : await token.HeadersAsync(cancellationToken),
            (time.GetUtcNow() + (deadline ?? options.Deadline)).UtcDateTime, cancellationToken);
        call.Turn = proxies.NextTurn();
        budget.AddShare();
        try
        {
            var answer = await TryAsync(call, cancellationToken);
            measured.Answered();
            return answer;
        }
        catch (Exception e)
        {
            measured.Failed(e);
            throw;
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
        telemetry.Retried(call.Method, 1);
        return await call.TryAsync(proxies);
    }
}
