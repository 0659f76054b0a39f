using System.Collections.Concurrent;
using Billing.Driver.Lives;

namespace Billing.Driver.Metering;

/// <summary>Counts the outcomes of a load's requests. Thread-safe; its memory does not grow
/// with their number.</summary>
/// <param name="startUnixUs">The start of the load.</param>
/// <param name="phases">The names of its phases, at least one.</param>
/// <param name="isBurst">Whether all requests are due at the start.</param>
internal sealed class Meter(long startUnixUs, IReadOnlyList<string> phases, bool isBurst)
{
    private readonly KindMeter[] _payments = [.. phases.Select(_ => new KindMeter())];
    private readonly KindMeter[] _balances = [.. phases.Select(_ => new KindMeter())];
    private readonly ConcurrentDictionary<(int Phase, string Kind), KindMeter> _followUps = new();
    private long _done;
    private long _answered;
    private long _last;

    /// <summary>Number of payments, authorisations and balance checks answered or failed so far.</summary>
    public long Done => Interlocked.Read(ref _done);

    /// <summary>Number of requests answered so far.</summary>
    public long Answered => Interlocked.Read(ref _answered);

    /// <summary>Counts a payment.</summary>
    /// <param name="phase">The index of its phase.</param>
    /// <param name="countsFrom">The moment from which its latency counts, in microseconds since the Unix epoch.</param>
    /// <param name="ended">The moment of its outcome.</param>
    public void Payment(int phase, in Outcome outcome, long countsFrom, long ended) =>
        Count(_payments[phase], outcome, countsFrom, ended);

    /// <summary>Counts a balance check.</summary>
    public void Balance(int phase, in Outcome outcome, long countsFrom, long ended) =>
        Count(_balances[phase], outcome, countsFrom, ended);

    /// <summary>Counts what else is done with a payment.</summary>
    public void FollowUp(string kind, int phase, in Outcome outcome, long countsFrom, long ended) =>
        Count(
            _followUps.GetOrAdd((phase, kind), _ => new KindMeter()), outcome, countsFrom,
            ended, isFirst: kind == FollowUps.Authorisations);

    public LoadResult Result() => new()
    {
        StartedUnixUs = startUnixUs,
        EndedUnixUs = Math.Max(startUnixUs, Interlocked.Read(ref _last)),
        Retried = 0,
        Phases = [.. phases.Select((name, i) =>
            new PhaseResult(name, _payments[i].Figures(), _balances[i].Figures()) { FollowUps = FollowUpFigures(i) })],
        PaymentsAnswered = 0,
        BalancesAnswered = 0,
    };

    private Dictionary<string, RequestFigures> FollowUpFigures(int phase) => FollowUps.All
        .Where(kind => _followUps.ContainsKey((phase, kind)))
            .ToDictionary(kind => kind, kind => _followUps[(phase, kind)].Figures());

    private void Count(KindMeter kind, in Outcome outcome, long countsFrom, long ended, bool isFirst = true)
    {
        kind.Count(outcome, ended - countsFrom, isBurst ? ended - startUnixUs : null);
        if (isFirst)
        {
            Interlocked.Increment(ref _done);
        }
        if (outcome.Error.Length > 0)
        {
            return;
        }
        Interlocked.Increment(ref _answered);
        Interlocked.Exchange(ref _last, Math.Max(ended, Interlocked.Read(ref _last)));
    }

    private sealed class KindMeter
    {
        private readonly LatencyHistogram _latencies = new();
        private readonly LatencyHistogram _sinceStart = new();
        private readonly ConcurrentDictionary<string, long> _errors = new(StringComparer.Ordinal);
        private long _ok;
        private long _declined;

        public void Count(in Outcome outcome, long latencyUs, long? sinceStartUs)
        {
            if (outcome.Error.Length > 0)
            {
                _errors.AddOrUpdate(outcome.Error, 1, (_, n) => n + 1);
                return;
            }
            _latencies.Record(latencyUs);
            if (sinceStartUs is { } us)
            {
                _sinceStart.Record(us);
            }
            Interlocked.Increment(ref outcome.IsDeclined ? ref _declined : ref _ok);
        }

        public RequestFigures Figures() => new()
        {
            Ok = Interlocked.Read(ref _ok),
            Declined = Interlocked.Read(ref _declined),
            Errors = new SortedDictionary<string, long>(_errors, StringComparer.Ordinal),
            Latencies = _latencies.Counts(),
            SinceStart = _sinceStart.Counts(),
        };
    }
}

/// <summary>The outcome of a request as it is counted.</summary>
/// <param name="Error">The status of a failure; empty for an answer.</param>
/// <param name="IsDeclined">Whether the answer is that nothing was done.</param>
internal readonly record struct Outcome(string Error, bool IsDeclined);
