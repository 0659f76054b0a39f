using Grpc.Core;

namespace Billing.Client;

/// <summary>Common settings and services of all streams of one method.</summary>
/// <param name="method">The gRPC method, as <c>service/method</c>.</param>
/// <param name="proxies">The proxies to call.</param>
/// <param name="retries">The retry policy.</param>
/// <param name="token">The bearer token of the caller.</param>
/// <param name="telemetry">The client's telemetry.</param>
internal sealed class StreamCalls(
    string method, ProxyPool proxies, RetryPolicy retries, BearerToken token, ClientTelemetry telemetry)
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
    /// proxy limits the wait for each answer.</summary>
    public async ValueTask<CallOptions> OptionsAsync(CancellationToken cancellationToken) =>
        new(await token.HeadersAsync(cancellationToken), cancellationToken: cancellationToken);

    public void CountRetried(int calls) => telemetry.Retried(method, calls);
}
