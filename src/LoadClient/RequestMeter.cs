using System.Collections.Concurrent;
using Grpc.Core;

namespace Billing.LoadClient;

/// <summary>Collects the latencies and results of one kind of request. Thread-safe.</summary>
internal sealed class RequestMeter(int count, TimeProvider time)
{
    private readonly long[] _latenciesUs = new long[count];
    private readonly long[] _sinceStartUs = new long[count];
    private readonly ConcurrentDictionary<string, int> _errors = new(StringComparer.Ordinal);
    private int _answered;
    private int _declined;
    private int _failed;
    private long? _start;

    public int Answers => Volatile.Read(ref _answered);

    public int Done => Volatile.Read(ref _answered) + Volatile.Read(ref _failed);

    /// <summary>Sets the moment at which all requests are due: answers are also timed from there. Call it before the first
    /// request.</summary>
    /// <param name="timestamp">The moment, a timestamp of the meter's clock.</param>
    public void BeginAt(long timestamp) => _start = timestamp;

    /// <summary>Counts an answer.</summary>
    /// <param name="sent">When its call was made, a timestamp of the meter's clock.</param>
    /// <param name="declined">Whether it declines a payment.</param>
    public void Answered(long sent, bool declined)
    {
        var now = time.GetTimestamp();
        var index = Interlocked.Increment(ref _answered) - 1;
        _latenciesUs[index] = Microseconds(sent, now);
        _sinceStartUs[index] = _start is { } start ? Microseconds(start, now) : 0;
        if (declined)
        {
            Interlocked.Increment(ref _declined);
        }
    }

    public void Failed(RpcException e)
    {
        Interlocked.Increment(ref _failed);
        _errors.AddOrUpdate($"{e.StatusCode}: {e.Status.Detail}", 1, (_, n) => n + 1);
    }

    public RequestFigures Figures() =>
        new(_answered - _declined, _declined, new SortedDictionary<string, int>(_errors), _latenciesUs[.._answered])
        {
            SinceStartUs = _start is null ? [] : _sinceStartUs[.._answered],
        };

    private long Microseconds(long from, long to) => time.GetElapsedTime(from, to).Ticks / TimeSpan.TicksPerMicrosecond;
}
