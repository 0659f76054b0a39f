using Billing.Contracts;
using Billing.Hosting;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Grpc.Core;

namespace Billing.Proxy.Limits;

/// <summary>When a stream has to end although its caller would go on: when the proxy shuts down, when the caller's
/// token or the certificate of its connection has expired, when the token's key is removed, and when its connection is
/// old (<see cref="LimitOptions.ConnectionAgeMax"/>). What was read of it until then is answered.</summary>
internal sealed class StreamEnd : IDisposable
{
    /// <summary>How long a write that has begun may take once the stream has to end.</summary>
    public static readonly TimeSpan Grace = TimeSpan.FromSeconds(2);

    // The longest time that a CancellationTokenSource can be given.
    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

    private readonly HttpContext _http;
    private readonly TimeProvider _time;
    private readonly CancellationToken _closing;
    private readonly CancellationToken _revoked;
    private readonly CancellationTokenSource _expired;
    private readonly Failure _expiry;
    private readonly ConnectionAge? _connection;
    private readonly CancellationTokenSource _any;

    /// <param name="http">The request that opens it.</param>
    /// <param name="time">The clock.</param>
    /// <param name="closing">Cancelled when the proxy begins to shut down.</param>
    public StreamEnd(HttpContext http, TimeProvider time, CancellationToken closing)
    {
        var caller = Caller.Of(http);
        (_http, _time, _closing, _revoked) = (http, time, closing, caller.Revoked);
        var token = caller.Until ?? DateTimeOffset.MaxValue;
        var certificate = CertificateExpiry.Of(http) ?? DateTimeOffset.MaxValue;
        _expiry = certificate < token ? CertificateExpiry.Expired : TokenExpired("The token has expired");
        var left = (certificate < token ? certificate : token) - time.AgreedClock().GetUtcNow();
        _expired = new CancellationTokenSource(
            TimeSpan.FromTicks(Math.Clamp(left.Ticks, 0, Longest.Ticks)), time);
        _connection = http.Features.Get<ConnectionAge>();
        _any = CancellationTokenSource.CreateLinkedTokenSource(
            closing, _revoked, _expired.Token, _connection?.OpenStream(http) ?? CancellationToken.None);
    }

    /// <summary>Cancelled when it has to end.</summary>
    public CancellationToken Token => _any.Token;

    /// <summary>What the caller is told, once <see cref="Token"/> is cancelled.</summary>
    public Failure Failure => _closing.IsCancellationRequested ? Admission.Closed()
        : _expired.IsCancellationRequested ? _expiry
        : _revoked.IsCancellationRequested ? TokenExpired("The key of the token was removed")
        : new(StatusCode.Unavailable, ErrorReasons.StreamTooOld,
            $"The stream's connection was open for {_connection}; open another stream.");

    /// <summary>Waits for a write that has begun, whatever its outcome; once the stream has to end, no longer than
    /// <see cref="Grace"/>.</summary>
    /// <returns>Whether it has completed; if not, the caller does not read.</returns>
    public async Task<bool> WaitAsync(Task write)
    {
        await write.WaitAsync(Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!write.IsCompleted)
        {
            await write.WaitAsync(Grace, _time, CancellationToken.None)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        return write.IsCompleted;
    }

    public void Dispose()
    {
        _connection?.CloseStream(_http);
        _any.Dispose();
        _expired.Dispose();
    }

    private static Failure TokenExpired(string how) => new(
        StatusCode.Unauthenticated, ErrorReasons.TokenExpired, $"{how}; open another stream with a new token.");
}
