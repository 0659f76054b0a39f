using System.Collections.Concurrent;
using Grpc.Core;

namespace Billing.Client.Load;

/// <summary>Collects what happened to the requests of one kind. Safe from any thread.</summary>
internal sealed class RequestMeter(int count)
{
    private readonly long[] _latenciesUs = new long[count];
    private readonly ConcurrentDictionary<string, int> _errors = new(StringComparer.Ordinal);
    private int _answered;
    private int _declined;
    private int _failed;

    public int Answers => Volatile.Read(ref _answered);

    public int Done => Volatile.Read(ref _answered) + Volatile.Read(ref _failed);

    public void Answered(TimeSpan latency, bool declined)
    {
        _latenciesUs[Interlocked.Increment(ref _answered) - 1] = latency.Ticks / TimeSpan.TicksPerMicrosecond;
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
        new(_answered - _declined, _declined, new SortedDictionary<string, int>(_errors), _latenciesUs[.._answered]);
}
