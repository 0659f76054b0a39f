using System.Collections.Concurrent;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Domain;

/// <summary>What happened to the calls of one scenario, and to its steps.</summary>
internal sealed class Meter
{
    private readonly ConcurrentDictionary<string, Pair> _steps = new(StringComparer.Ordinal);
    private readonly Pair _calls = new(0);

    public int OkCount => _calls.Ok.Count;

    public int FailCount => _calls.Fail.Count;

    public void Record(TimeSpan latency, IResponse response) => _calls.Record(latency, response);

    public void RecordStep(string name, TimeSpan latency, IResponse response)
    {
        if (!_steps.TryGetValue(name, out var step))
        {
            step = _steps.GetOrAdd(name, _ => new Pair(_steps.Count));
        }
        step.Record(latency, response);
    }

    public ScenarioStats Stats(string scenario, TimeSpan duration, LoadSimulationStats simulation, OperationType operation)
    {
        var (ok, fail) = _calls.Stats(duration);
        return new ScenarioStats
        {
            ScenarioName = scenario,
            Ok = ok,
            Fail = fail,
            StepStats = [.. _steps.OrderBy(s => s.Value.Order).Select(s => StepStats(s.Key, s.Value, duration))],
            LoadSimulationStats = simulation,
            CurrentOperation = operation,
            AllRequestCount = ok.Request.Count + fail.Request.Count,
            AllOkCount = ok.Request.Count,
            AllFailCount = fail.Request.Count,
            AllBytes = ok.DataTransfer.AllBytes + fail.DataTransfer.AllBytes,
            Duration = duration,
        };
    }

    private static StepStats StepStats(string name, Pair step, TimeSpan duration)
    {
        var (ok, fail) = step.Stats(duration);
        return new StepStats { StepName = name, Ok = ok, Fail = fail, SortIndex = step.Order };
    }

    private sealed class Pair(int order)
    {
        public int Order => order;

        public Series Ok { get; } = new(isError: false);

        public Series Fail { get; } = new(isError: true);

        public void Record(TimeSpan latency, IResponse response) => (response.IsError ? Fail : Ok).Record(latency, response);

        public (MeasurementStats Ok, MeasurementStats Fail) Stats(TimeSpan duration)
        {
            var all = Ok.Count + Fail.Count;
            return (Ok.Stats(duration, all), Fail.Stats(duration, all));
        }
    }
}
