using Grpc.Core;
using Polly.CircuitBreaker;

namespace Billing.Client;

/// <summary>Makes calls of one answer: the next proxy in turn, retries, circuits, and what is measured of it. What all calls need is
/// a look at the circuit and the budget; only one that fails costs more.</summary>
internal sealed class UnaryCalls(
    BillingClientOptions options, TimeProvider time, ProxyPool proxies, RetryBudget budget, BearerToken token, ClientTelemetry telemetry)
{
    private readonly RetryPolicy _retries = RetryPolicy.ForCalls(options, time, budget, telemetry);

    /// <exception cref="RpcException">The last try failed, or one in a way that is not tried again.</exception>
    public async Task<TAnswer> RunAsync<TRequest, TAnswer>(
        UnaryCall<TRequest, TAnswer> call, TimeSpan? deadline, CancellationToken cancellationToken)
    {
        using var measured = telemetry.Begin(call.Method);
        // One deadline for all tries, so that a retry never makes the caller wait longer than it said.
        call.Options = new CallOptions(
            token.IsFixed ? token.FixedHeaders : await token.HeadersAsync(cancellationToken),
            (time.GetUtcNow() + (deadline ?? options.Deadline)).UtcDateTime, cancellationToken);
        call.Turn = proxies.NextTurn();
        budget.Earn();
        try
        {
            var answer = await _retries.ExecuteAsync(static (s, _) => s.Calls.TryAsync(s.Call), new Run<TRequest, TAnswer>(this, call), cancellationToken);
            measured.Answered();
            return answer;
        }
        catch (Exception e)
        {
            measured.Failed(e);
            throw;
        }
    }

    private ValueTask<TAnswer> TryAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call)
    {
        var proxy = call.NextProxy(proxies);
        if (call.Tries > 1)
        {
            telemetry.Retried(call.Method, 1);
        }
        return proxy.Circuit.LetsThrough ? TryAsync(call, proxy) : call.SendAsync(proxy);
    }

    private static async ValueTask<TAnswer> TryAsync<TRequest, TAnswer>(UnaryCall<TRequest, TAnswer> call, Proxy proxy)
    {
        try
        {
            return await proxy.Circuit.CallAsync(static (s, _) => s.Call.SendAsync(s.Proxy), (Call: call, Proxy: proxy), call.Options.CancellationToken);
        }
        catch (BrokenCircuitException)
        {
            return await call.SendAsync(proxy);
        }
    }

    private readonly record struct Run<TRequest, TAnswer>(UnaryCalls Calls, UnaryCall<TRequest, TAnswer> Call);
}
