using Grpc.Core;

namespace Billing.Client;

/// <summary>What all streams of one method have in common.</summary>
/// <param name="method">The gRPC method, as <c>service/method</c>.</param>
/// <param name="proxies">Where they go.</param>
/// <param name="retries">What is tried again.</param>
/// <param name="token">Who calls.</param>
/// <param name="telemetry">What is counted.</param>
internal sealed class StreamCalls(
    string method, ProxyPool proxies, RetryPolicy retries, BearerToken token, ClientTelemetry telemetry)
{
    public RetryPolicy Retries => retries;

    public uint NextTurn() => proxies.NextTurn();

    /// <summary>The proxy of a turn; the turn moves on to the one after it.</summary>
    public Proxy Take(ref uint turn)
    {
        var proxy = proxies.Choose(ref turn);
        turn++;
        return proxy;
    }

    /// <summary>No deadline: a stream takes as long as there is something to say. The proxy bounds the wait for each answer.
    /// </summary>
    public async ValueTask<CallOptions> OptionsAsync(CancellationToken cancellationToken) =>
        new(await token.HeadersAsync(cancellationToken), cancellationToken: cancellationToken);

    public void CountRetried(int calls) => telemetry.Retried(method, calls);
}
