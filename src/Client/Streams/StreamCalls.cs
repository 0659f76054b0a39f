using Grpc.Core;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>Common settings and services of all streams of one gRPC method, <c>service/method</c>.</summary>
/// <param name="method">The method.</param>
/// <param name="headers">What the caller sends with each stream; null for nothing.</param>
/// <param name="options">The options.</param>
/// <param name="proxies">The proxies.</param>
/// <param name="retries">What is retried.</param>
/// <param name="token">The token.</param>
/// <param name="telemetry">The telemetry.</param>
/// <param name="log">The log.</param>
internal sealed class StreamCalls(
    string method, Metadata? headers, BillingClientOptions options, ProxyPool proxies, RetryPolicy retries,
    BearerToken token, ClientTelemetry telemetry, ILogger log)
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

    /// <summary>Returns the options of a stream. They have no deadline: a stream lasts as long as there are messages,
    /// and the proxy limits the wait for each answer. The waits for its token, for the first addresses and between its
    /// retries are bounded by the deadline of a call.</summary>
    public async ValueTask<CallOptions> OptionsAsync(CancellationToken cancellationToken)
    {
        var identity = await token.HeadersAsync(options.Deadline, cancellationToken).ConfigureAwait(false);
        await proxies.ReadyAsync(deadline: null, cancellationToken).ConfigureAwait(false);
        return new CallOptions(Together(headers, identity), cancellationToken: cancellationToken);
    }

    /// <summary>Returns the headers of both; null if neither has any.</summary>
    public static Metadata? Together(Metadata? some, Metadata? others)
    {
        if (some is null || others is null)
        {
            return some ?? others;
        }
        var all = new Metadata();
        foreach (var entry in some.Concat(others))
        {
            all.Add(entry);
        }
        return all;
    }

    public void CountRetry() => telemetry.Retried(method);

    /// <summary>Records how a stream to a proxy failed.</summary>
    public ValueTask FailedAsync(Proxy proxy, RpcException failure)
    {
        log.StreamFailed(failure, method, proxy.Name);
        return proxy.RecordOutcomeAsync(failure);
    }
}
