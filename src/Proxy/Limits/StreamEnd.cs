using Billing.Contracts;
using Billing.Hosting;
using Billing.Proxy.Failures;
using Grpc.Core;

namespace Billing.Proxy.Limits;

/// <summary>When a stream has to end although its caller would go on: when the proxy shuts down, when the
/// caller's token has expired or the token's key is removed, and at <see cref="LimitOptions.StreamAgeMax"/>. What was
/// read of it until then is answered.</summary>
internal sealed class StreamEnd : IDisposable
{
    /// <summary>How long a write that has begun may take once the stream has to end.</summary>
    public static readonly TimeSpan Grace = TimeSpan.FromSeconds(2);

    // The longest time that a CancellationTokenSource can be given.
    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

    private readonly TimeProvider _time;
    private readonly CancellationToken _closing;
    private readonly CancellationToken _revoked;
    private readonly CancellationTokenSource _expired;
    private readonly CancellationTokenSource _old;
    private readonly CancellationTokenSource _any;
    private readonly TimeSpan _ageMax;

    /// <param name="until">When the caller's token expires; null for never.</param>
    /// <param name="ageMax">The greatest age of a stream.</param>
    /// <param name="time">The clock.</param>
    /// <param name="closing">Cancelled when the proxy begins to shut down.</param>
    /// <param name="revoked">Cancelled when what vouches for the caller does no longer.</param>
    public StreamEnd(
        DateTimeOffset? until, TimeSpan ageMax, TimeProvider time, CancellationToken closing, CancellationToken revoked)
    {
        (_ageMax, _time, _closing, _revoked) = (ageMax, time, closing, revoked);
        var left = until is { } end ? end - time.AgreedClock().GetUtcNow() : Longest;
        _expired = new CancellationTokenSource(TimeSpan.FromTicks(Math.Clamp(left.Ticks, 0, Longest.Ticks)), time);
        _old = new CancellationTokenSource(ageMax, time);
        _any = CancellationTokenSource.CreateLinkedTokenSource(closing, revoked, _expired.Token, _old.Token);
    }

    /// <summary>Cancelled when it has to end.</summary>
    public CancellationToken Token => _any.Token;

    /// <summary>What the caller is told, once <see cref="Token"/> is cancelled.</summary>
    public Failure Failure => _closing.IsCancellationRequested ? Admission.Closed()
        : _expired.IsCancellationRequested
            ? new(
                StatusCode.Unauthenticated, ErrorReasons.TokenExpired,
                "The token has expired; open another stream with a new one.")
        : _revoked.IsCancellationRequested
            ? new(
                StatusCode.Unauthenticated, ErrorReasons.TokenExpired,
                "The key of the token was removed; open another stream with a new token.")
            : new(StatusCode.Unavailable, ErrorReasons.StreamTooOld,
                $"The stream was open for {_ageMax} (Billing:Limits:StreamAgeMax); open another one.");

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
        _any.Dispose();
        _expired.Dispose();
        _old.Dispose();
    }
}
