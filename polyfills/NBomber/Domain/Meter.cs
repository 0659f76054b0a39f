using System.Collections.Concurrent;
using HdrHistogram;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Domain;

/// <summary>What became of the calls of a scenario, and of its steps. Any thread may record at any time.</summary>
internal sealed class Meter
{
    private readonly Outcomes _calls = new();
    private readonly ConcurrentDictionary<string, Outcomes> _steps = new(StringComparer.Ordinal);

    public int FailCount => _calls.Fail.Count;

    public void Record(IResponse response, TimeSpan latency) => _calls.Record(response, latency);

    public void RecordStep(string name, IResponse response, TimeSpan latency) =>
        _steps.GetOrAdd(name, _ => new Outcomes()).Record(response, latency);

    /// <param name="scenario">The scenario's name.</param>
    /// <param name="duration">How long it ran.</param>
    /// <param name="loaded">How much of that it was not paused.</param>
    public ScenarioStats Stats(string scenario, TimeSpan duration, TimeSpan loaded)
    {
        var steps = _steps.OrderBy(s => s.Key, StringComparer.Ordinal)
            .Select(s =>
                new StepStats { StepName = s.Key, Ok = s.Value.Ok.Stats(loaded), Fail = s.Value.Fail.Stats(loaded) })
            .ToArray();
        var (ok, fail) = (_calls.Ok.Stats(loaded), _calls.Fail.Stats(loaded));
        // A scenario's codes are its own and those of its steps, each counted for itself.
        ok.StatusCodes = Merged(steps.Select(s => s.Ok).Append(ok));
        fail.StatusCodes = Merged(steps.Select(s => s.Fail).Append(fail));
        return new ScenarioStats
        {
            ScenarioName = scenario,
            Ok = ok,
            Fail = fail,
            StepStats = steps,
            Duration = duration,
        };
    }

    private static StatusCodeStats[] Merged(IEnumerable<MeasurementStats> stats) =>
    [
        .. stats.SelectMany(s => s.StatusCodes).GroupBy(c => c.StatusCode, StringComparer.Ordinal)
            .OrderBy(g => g.Key, StringComparer.Ordinal)
            .Select(g => new StatusCodeStats
            {
                StatusCode = g.Key,
                IsError = g.First().IsError,
                Message = g.First().Message,
                Count = g.Sum(c => c.Count),
            }),
    ];

    private sealed class Outcomes
    {
        public Series Ok { get; } = new(isError: false);

        public Series Fail { get; } = new(isError: true);

        public void Record(IResponse response, TimeSpan latency) =>
            (response.IsError ? Fail : Ok).Record(response, latency);
    }

    private sealed class Series(bool isError)
    {
        private const long Longest = 60_000_000;

        private readonly LongHistogram _microseconds = new(1, Longest, 3);
        private readonly ConcurrentDictionary<string, StatusCodeStats> _codes = new(StringComparer.Ordinal);
        private int _count;

        public int Count => Volatile.Read(ref _count);

        public void Record(IResponse response, TimeSpan latency)
        {
            Interlocked.Increment(ref _count);
            // A latency that the answer names wins.
            var microseconds = response.LatencyMs > 0
                ? (long)(response.LatencyMs * 1000)
                : latency.Ticks / TimeSpan.TicksPerMicrosecond;
            lock (_microseconds)
            {
                _microseconds.RecordValue(Math.Clamp(microseconds, 1, Longest));
            }
            if (response.StatusCode.Length > 0)
            {
                var code = _codes.GetOrAdd(
                    response.StatusCode, static (code, r) =>
                        new StatusCodeStats { StatusCode = code, IsError = r.IsError, Message = r.Message }, response);
                lock (code)
                {
                    code.Count++;
                }
            }
        }

        public MeasurementStats Stats(TimeSpan loaded)
        {
            return new MeasurementStats
            {
                Request =
                    new RequestStats { Count = Count, RPS = Math.Round(Count / Math.Max(1, loaded.TotalSeconds), 1) },
                Latency = Latencies(),
                StatusCodes =
                [
                    .. _codes.Values.Select(c => new StatusCodeStats
                    {
                        StatusCode = c.StatusCode,
                        IsError = isError,
                        Message = c.Message,
                        Count = c.Count,
                    }),
                ],
            };
        }

        private LatencyStats Latencies()
        {
            lock (_microseconds)
            {
                return _microseconds.TotalCount == 0 ? new LatencyStats() : new LatencyStats
                {
                    MinMs = At(0),
                    MeanMs = Ms(_microseconds.GetMean()),
                    MaxMs = At(100),
                    Percent50 = At(50),
                    Percent75 = At(75),
                    Percent95 = At(95),
                    Percent99 = At(99),
                };
            }
        }

        private double At(double percentile) => Ms(_microseconds.GetValueAtPercentile(percentile));

        private static double Ms(double microseconds) => Math.Round(microseconds / 1000, 2);
    }
}
