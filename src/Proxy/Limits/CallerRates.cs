using System.Threading.RateLimiting;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Limits;

/// <summary>Limits the calls per second of each caller, with a token bucket for each; there may be no limit.</summary>
public sealed class CallerRates : IDisposable
{
    // Short, so that a caller at its limit is not admitted in bursts.
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(100);

    private readonly LimitOptions _options;
    private readonly PartitionedRateLimiter<Caller>? _limiter;

    /// <summary>Creates the limits from the settings.</summary>
    public CallerRates(IOptions<LimitOptions> options)
    {
        _options = options.Value;
        if (_options.RequestsPerSecond > 0)
        {
            _limiter = PartitionedRateLimiter.Create<Caller, string>(
                caller => RateLimitPartition.GetTokenBucketLimiter(caller.Id, _ => Bucket(_options)));
        }
    }

    /// <summary>Counts a call.</summary>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED: the caller has exceeded its rate.</exception>
    public void Count(Caller caller)
    {
        if (_limiter is null)
        {
            return;
        }
        using var lease = _limiter.AttemptAcquire(caller);
        if (!lease.IsAcquired)
        {
            var wait = lease.TryGetMetadata(MetadataName.RetryAfter, out var known) ? known : Period;
            throw Failure.Create(StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
                $"The caller may make {_options.RequestsPerSecond} calls per second (Billing:Limits:RequestsPerSecond).", wait);
        }
    }

    /// <summary>Waits until a caller may make its next call: payments on a stream are not refused but read more slowly.</summary>
    public async ValueTask WaitAsync(Caller caller, CancellationToken cancellationToken)
    {
        if (_limiter is not null)
        {
            using var lease = await _limiter.AcquireAsync(caller, 1, cancellationToken);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _limiter?.Dispose();

    private static TokenBucketRateLimiterOptions Bucket(LimitOptions options)
    {
        var perPeriod = Math.Max(1, (int)(options.RequestsPerSecond * Period.TotalSeconds));
        return new TokenBucketRateLimiterOptions
        {
            TokenLimit = Math.Max(perPeriod, options.Burst > 0 ? options.Burst : options.RequestsPerSecond),
            TokensPerPeriod = perPeriod,
            ReplenishmentPeriod = perPeriod > 1 ? Period : TimeSpan.FromSeconds(1.0 / options.RequestsPerSecond),
            AutoReplenishment = false,
            // A stream waits for one token at a time, and streams are bounded.
            QueueLimit = int.MaxValue,
            QueueProcessingOrder = QueueProcessingOrder.OldestFirst,
        };
    }
}
