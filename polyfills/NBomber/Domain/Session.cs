using System.Globalization;
using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.Reports;

namespace NBomber.Domain;

/// <summary>One run: all scenarios at the same time, first to warm up, then to count; then the reports.
/// Progress is a line for each scenario in each reporting interval.</summary>
internal sealed class Session(NBomberContext context, TimeProvider time)
{
    private readonly Lock _gate = new();
    private ScenarioRun[] _runs = [];

    public async Task<NodeStats> RunAsync()
    {
        foreach (var scenario in context.Scenarios)
        {
            if (scenario.Init is { } init)
            {
                await init(new InitContext(new ScenarioInfo(scenario.ScenarioName, ScenarioOperation.Init)))
                    .ConfigureAwait(false);
            }
        }
        var warming = context.Scenarios.Where(s => s.WarmUpDuration is not null).ToList();
        if (warming.Count > 0)
        {
            await LoadAsync(warming, ScenarioOperation.WarmUp).ConfigureAwait(false);
        }
        var scenarios = await LoadAsync(context.Scenarios, ScenarioOperation.Bombing).ConfigureAwait(false);
        var stats = new NodeStats { ScenarioStats = scenarios, Duration = scenarios.Max(s => s.Duration) };
        var title = string.Create(
            CultureInfo.InvariantCulture,
            $"{context.TestSuite}, {context.TestName}, {time.GetUtcNow():yyyy-MM-dd HH:mm:ss} UTC");
        Console.WriteLine(TextReport.Txt(title, stats));
        ReportFolder.Write(context, title, stats, time);
        return stats;
    }

    /// <summary>Stops all scenarios, but not those that follow a warm-up.</summary>
    public void Stop(string reason)
    {
        lock (_gate)
        {
            if (_runs.Length > 0)
            {
                Console.WriteLine($"Stopping test early: {reason}");
            }
            foreach (var run in _runs)
            {
                run.Stop();
            }
            _runs = [];
        }
    }

    /// <summary>Stops one scenario, where it runs; the others go on.</summary>
    public void StopScenario(string scenarioName, string reason)
    {
        lock (_gate)
        {
            if (_runs.FirstOrDefault(
                r => r.Props.ScenarioName == scenarioName && !r.Stopped.IsCancellationRequested) is not { } run)
            {
                return;
            }
            Console.WriteLine($"Stopping scenario early: {scenarioName}, reason: {reason}");
            run.Stop();
        }
    }

    private async Task<ScenarioStats[]> LoadAsync(IReadOnlyList<ScenarioProps> scenarios, ScenarioOperation operation)
    {
        ScenarioRun[] runs = [.. scenarios.Select(s => new ScenarioRun(this, s, operation, time))];
        lock (_gate)
        {
            _runs = runs;
        }
        try
        {
            var load = Task.WhenAll(runs.Select(r => r.RunAsync()));
            while (await Task.WhenAny(load, Task.Delay(context.ReportingInterval, time)).ConfigureAwait(false) != load)
            {
                foreach (var run in runs)
                {
                    Console.WriteLine(TextReport.Progress(run.Stats(), operation));
                }
            }
            await load.ConfigureAwait(false);
            return [.. runs.Select(r => r.Stats())];
        }
        finally
        {
            lock (_gate)
            {
                _runs = [];
            }
            foreach (var run in runs)
            {
                run.Dispose();
            }
        }
    }

    private sealed record InitContext(ScenarioInfo ScenarioInfo) : IScenarioInitContext;
}
