using Grpc.Core;

namespace Billing.Client;

/// <summary>Common settings and services of all streams of one gRPC method, <c>service/method</c>.</summary>
internal sealed class StreamCalls(
    string method, BillingClientOptions options, ProxyPool proxies, RetryPolicy retries, BearerToken token, ClientTelemetry telemetry)
{
    public RetryPolicy Retries => retries;

    public uint NextTurn() => proxies.NextTurn();

    /// <summary>Returns the proxy of a turn and advances the turn to the next one.</summary>
    public Proxy Take(ref uint turn)
    {
        var proxy = proxies.Choose(ref turn);
        turn++;
        return proxy;
    }

    /// <summary>Returns the options of a stream. They have no deadline: a stream lasts as long as there are messages, and the
    /// proxy limits the wait for each answer. The waits for its token and for the first addresses are bounded by that of a call.</summary>
    public async ValueTask<CallOptions> OptionsAsync(CancellationToken cancellationToken)
    {
        var headers = await token.HeadersAsync(options.Deadline, cancellationToken);
        await proxies.ReadyAsync(deadline: null, cancellationToken);
        return new CallOptions(headers, cancellationToken: cancellationToken);
    }

    public void CountRetry() => telemetry.Retried(method);
}
