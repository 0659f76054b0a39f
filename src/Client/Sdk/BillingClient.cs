using Billing.Contracts;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;
using Polly;
using Polly.Retry;

namespace Billing.Client;

/// <summary>Calls the billing platform: each call goes to the next proxy in turn, and one that a proxy could not take goes
/// to the one after it, with the same transaction id, so nothing is charged twice. Safe from any thread; keep one for the
/// life of the program.</summary>
public sealed class BillingClient : IDisposable
{
    private readonly BillingClientOptions _options;
    private readonly TimeProvider _time;
    private readonly GrpcChannel[] _channels;
    private readonly V1.Billing.BillingClient[] _proxies;
    private readonly ResiliencePipeline _retry;
    private int _turn;

    /// <summary>Creates a client; connections are made with the first calls.</summary>
    /// <exception cref="ArgumentException">The options cannot be used; the message names which.</exception>
    public BillingClient(BillingClientOptions options, TimeProvider time)
    {
        if (options.Proxies.Count == 0 || options.Problems().Any())
        {
            throw new ArgumentException(
                string.Join(' ', options.Problems().DefaultIfEmpty("Billing:Client:Proxies is empty.")), nameof(options));
        }
        _options = options;
        _time = time;
        _channels = [.. options.Proxies.Select(Connect)];
        _proxies = [.. _channels.Select(channel => new V1.Billing.BillingClient(channel))];
        _retry = Retries();
    }

    /// <summary>Calls that had to be sent again.</summary>
    public long Retried => Interlocked.Read(ref _retried);

    private long _retried;

    /// <summary>Charges an account.</summary>
    /// <param name="request">Its transaction id is the idempotency key: keep it, and a call whose outcome is unknown can be
    /// asked again safely.</param>
    /// <param name="cancellationToken">Gives up; the payment may or may not be recorded.</param>
    /// <returns>Accepted or declined; a declined payment is an answer, not an error.</returns>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<MakePaymentResponse> MakePaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        CallAsync((proxy, options) => proxy.MakePaymentAsync(request, options), cancellationToken);

    /// <summary>Reads an account's balance.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<CheckBalanceResponse> CheckBalanceAsync(CheckBalanceRequest request, CancellationToken cancellationToken = default) =>
        CallAsync((proxy, options) => proxy.CheckBalanceAsync(request, options), cancellationToken);

    /// <summary>The machine-readable reason of a failure, one of <see cref="ErrorReasons"/>; empty where there is none.
    /// </summary>
    public static string Reason(RpcException failure) => failure.Trailers.GetValue(Trailers.Reason) ?? "";

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var channel in _channels)
        {
            channel.Dispose();
        }
    }

    private async Task<T> CallAsync<T>(
        Func<V1.Billing.BillingClient, CallOptions, AsyncUnaryCall<T>> call, CancellationToken cancellationToken)
    {
        // One deadline for all tries, so that a retry never makes the caller wait longer than it said.
        var options = new CallOptions(
            deadline: (_time.GetUtcNow() + _options.Deadline).UtcDateTime, cancellationToken: cancellationToken);
        var turn = (uint)Interlocked.Increment(ref _turn);
        try
        {
            return await call(Proxy(turn), options);
        }
        catch (RpcException e) when (_options.RetriesMax > 0 && MayRetry(e))
        {
            // Polly only from here on: its state costs an allocation that the good case need not pay.
            return await RetryAsync(call, turn, options, e);
        }
    }

    private async Task<T> RetryAsync<T>(
        Func<V1.Billing.BillingClient, CallOptions, AsyncUnaryCall<T>> call, uint turn, CallOptions options, RpcException first)
    {
        await Task.Delay(Pushback(first) ?? _options.RetryDelay, _time, options.CancellationToken);
        return await _retry.ExecuteAsync(
            async _ =>
            {
                Interlocked.Increment(ref _retried);
                // From the proxy that failed to the one after it: drawn from the shared turn, other calls' draws between
                // could lead back to it again and again.
                return await call(Proxy(++turn), options);
            },
            options.CancellationToken);
    }

    private V1.Billing.BillingClient Proxy(uint turn) => _proxies[turn % (uint)_proxies.Length];

    private ResiliencePipeline Retries()
    {
        var retries = new RetryStrategyOptions
        {
            ShouldHandle = a => ValueTask.FromResult(a.Outcome.Exception is RpcException e && MayRetry(e)),
            MaxRetryAttempts = Math.Max(1, _options.RetriesMax - 1),
            BackoffType = DelayBackoffType.Exponential,
            Delay = _options.RetryDelay * 2,
            MaxDelay = TimeSpan.FromSeconds(2),
            UseJitter = true,
            DelayGenerator = a => ValueTask.FromResult(a.Outcome.Exception is RpcException e ? Pushback(e) : null),
        };
        return new ResiliencePipelineBuilder { TimeProvider = _time }.AddRetry(retries).Build();
    }

    private static bool MayRetry(RpcException e) => e.StatusCode is StatusCode.Unavailable or StatusCode.ResourceExhausted;

    private static TimeSpan? Pushback(RpcException e) =>
        int.TryParse(e.Trailers.GetValue(Trailers.RetryPushback), out var milliseconds) && milliseconds >= 0
            ? TimeSpan.FromMilliseconds(milliseconds)
            : null;

    private static GrpcChannel Connect(string address) => GrpcChannel.ForAddress(address, new GrpcChannelOptions
    {
        HttpHandler = new SocketsHttpHandler
        {
            // A burst needs more streams than one connection has.
            EnableMultipleHttp2Connections = true,
            PooledConnectionIdleTimeout = TimeSpan.FromMinutes(5),
            KeepAlivePingDelay = TimeSpan.FromSeconds(15),
            KeepAlivePingTimeout = TimeSpan.FromSeconds(5),
        },
        DisposeHttpClient = true,
    });
}
