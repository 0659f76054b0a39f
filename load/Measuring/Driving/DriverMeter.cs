using System.Collections.Concurrent;
using Billing.Contracts;

namespace Billing.Measuring.Driving;

/// <summary>Counts the outcomes of requests from its creation on. Thread-safe; its memory does not grow with the number of
/// requests.</summary>
internal sealed class DriverMeter
{
    private const int SecondsMax = 24 * 3600;

    // More samples would not make the percentiles noticeably more accurate, and memory stays bounded.
    private const int TimedMax = 20_000;

    private readonly TimeProvider _time;
    private readonly long _start;
    private readonly DateTimeOffset _startedAt;
    private readonly TimeSpan _cpuBefore = Environment.CpuUsage.TotalTime;
    private static readonly string Refused = nameof(Grpc.Core.StatusCode.ResourceExhausted);

    private readonly LatencyHistogram _latencies = new();
    private readonly LatencyHistogram _refusals = new();
    private readonly ConcurrentDictionary<string, long> _errors = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<int, Counter> _perSecond = new();
    private readonly ConcurrentQueue<StepTimes> _timed = new();
    private long _ok;
    private long _declined;
    private long _last;

    public DriverMeter(TimeProvider time)
    {
        _time = time;
        _start = time.GetTimestamp();
        _startedAt = time.GetUtcNow();
    }

    public long Ok => Interlocked.Read(ref _ok);

    public void Count(RequestOutcome outcome, TimeSpan latency)
    {
        if (outcome.Error is { } error)
        {
            _errors.AddOrUpdate(error, 1, (_, n) => n + 1);
            if (error == Refused)
            {
                _refusals.Record(latency);
            }
            return;
        }
        _latencies.Record(latency);
        if (outcome.Times is { } times && _timed.Count < TimedMax)
        {
            _timed.Enqueue(times);
        }
        Interlocked.Increment(ref _ok);
        if (outcome.Declined)
        {
            Interlocked.Increment(ref _declined);
        }
        var elapsed = _time.GetElapsedTime(_start);
        Volatile.Write(ref _last, elapsed.Ticks);
        var second = _perSecond.GetOrAdd(Math.Min((int)elapsed.TotalSeconds, SecondsMax), _ => new Counter());
        Interlocked.Increment(ref second.Count);
    }

    public DriveResult Result() => new()
    {
        StartedUnixUs = UnixTime.Microseconds(_startedAt),
        ElapsedS = TimeSpan.FromTicks(Volatile.Read(ref _last)).TotalSeconds,
        Ok = _ok,
        Declined = _declined,
        Errors = new SortedDictionary<string, long>(_errors, StringComparer.Ordinal),
        Latencies = _latencies.Counts(),
        Refusals = _refusals.Counts(),
        AnswersPerSecond = PerSecond(),
        Timed = [.. _timed.Select(times => times.ToString())],
        CpuS = (Environment.CpuUsage.TotalTime - _cpuBefore).TotalSeconds,
    };

    private long[] PerSecond()
    {
        var counts = new long[_perSecond.Keys.DefaultIfEmpty(-1).Max() + 1];
        foreach (var (second, count) in _perSecond)
        {
            counts[second] = count.Count;
        }
        return counts;
    }

    private sealed class Counter
    {
        public long Count;
    }
}
