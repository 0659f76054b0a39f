using System.Collections.Concurrent;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Limits;

/// <summary>Limits the calls per second of each caller, with a token bucket for each; there may be no limit.</summary>
public sealed class CallerRates(IOptions<LimitOptions> options, TimeProvider time)
{
    private const int RememberedMax = 10_000;

    private readonly ConcurrentDictionary<string, TokenBucket> _buckets = new(StringComparer.Ordinal);
    private readonly int _perSecond = options.Value.RequestsPerSecond;
    private readonly int _burst = options.Value.Burst > 0 ? options.Value.Burst : options.Value.RequestsPerSecond;

    /// <summary>Counts a call.</summary>
    /// <returns>RESOURCE_EXHAUSTED if the caller has exceeded its rate; null otherwise.</returns>
    public Failure? Count(Caller caller)
    {
        if (_perSecond == 0 || Of(caller).TryTake(out var wait))
        {
            return null;
        }
        return new Failure(StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached, $"The caller may make {_perSecond} calls per second (Billing:Limits:RequestsPerSecond).")
        {
            // In whole milliseconds, as it is told to the caller: one that comes back then must not be too early.
            RetryAfter = TimeSpan.FromMilliseconds(Math.Ceiling(wait.TotalMilliseconds)),
        };
    }

    /// <summary>Waits until a caller may make its next call: payments on a stream are not refused but read more slowly.</summary>
    public async ValueTask WaitAsync(Caller caller, CancellationToken cancellationToken)
    {
        if (_perSecond == 0)
        {
            return;
        }
        var bucket = Of(caller);
        var wait = bucket.Take();
        if (wait == TimeSpan.Zero)
        {
            return;
        }
        try
        {
            await Task.Delay(wait, time, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            bucket.Return();
            throw;
        }
    }

    private TokenBucket Of(Caller caller)
    {
        if (_buckets.TryGetValue(caller.Id, out var bucket))
        {
            return bucket;
        }
        if (_buckets.Count >= RememberedMax)
        {
            ForgetFull();
        }
        return _buckets.GetOrAdd(caller.Id, _ => new TokenBucket(_perSecond, _burst, time));
    }

    // A full bucket is like a new one. A call that takes from it just now, while it is removed, is not counted.
    private void ForgetFull()
    {
        foreach (var (id, bucket) in _buckets)
        {
            if (bucket.IsFull)
            {
                _buckets.TryRemove(id, out _);
            }
        }
    }
}
