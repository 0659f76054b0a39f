using System.Runtime.InteropServices;
using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.Reports;
using Spectre.Console;

namespace NBomber.Domain;

/// <summary>One run: all scenarios at the same time, first to warm up, then to count; then the reports.</summary>
internal sealed class Session
{
    private static readonly TimeSpan ShortestInterval = TimeSpan.FromSeconds(5);

    private readonly NBomberContext _context;
    private readonly IReadOnlyList<ScenarioProps> _scenarios;
    private readonly IAnsiConsole _console = AnsiConsole.Console;
    private readonly Lock _gate = new();
    private IReadOnlyList<ScenarioRun> _runs = [];
    private string? _stopReason;

    public Session(NBomberContext context, TimeProvider time)
    {
        _context = context;
        _scenarios = context.TargetScenarios.Count == 0
            ? context.Scenarios
            : [.. context.Scenarios.Where(s => context.TargetScenarios.Contains(s.ScenarioName, StringComparer.Ordinal))];
        var now = time.GetUtcNow();
        TestInfo = new TestInfo
        {
            SessionId = $"{now:yyyy-MM-dd_HH.mm.ss}_session_{Guid.NewGuid().ToString("N")[..8]}",
            TestSuite = context.TestSuite,
            TestName = context.TestName,
            ClusterId = "",
            Created = now.UtcDateTime,
        };
        NodeInfo = new NodeInfo
        {
            MachineName = Environment.MachineName,
            OS = RuntimeInformation.OSDescription,
            DotNetVersion = RuntimeInformation.FrameworkDescription,
            Processor = RuntimeInformation.ProcessArchitecture.ToString(),
            CoresCount = Environment.ProcessorCount,
            NBomberVersion = typeof(Session).Assembly.GetName().Version!.ToString(3),
        };
    }

    public TestInfo TestInfo { get; }

    public NodeInfo NodeInfo { get; }

    /// <exception cref="InvalidOperationException">What was registered cannot be run.</exception>
    public NodeStats Run()
    {
        RequireValid();
        // An interrupt ends the load and still writes the reports.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Interrupted);
        using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Interrupted);
        return Task.Run(RunAsync).GetAwaiter().GetResult();
    }

    public void Stop(string reason)
    {
        lock (_gate)
        {
            _stopReason ??= reason;
            foreach (var run in _runs)
            {
                run.Stop();
            }
        }
    }

    public void StopScenario(string name, string reason)
    {
        lock (_gate)
        {
            foreach (var run in _runs.Where(r => r.Props.ScenarioName == name && !r.Stopped.IsCancellationRequested))
            {
                _console.Profile.Out.Writer.WriteLine($"Scenario '{name}' stops: {reason}");
                run.Stop();
            }
        }
    }

    private async Task<NodeStats> RunAsync()
    {
        await EachAsync(s => s.Init, ScenarioOperation.Init).ConfigureAwait(false);
        NodeStats stats;
        try
        {
            if (_scenarios.Any(s => s.WarmUpDuration > TimeSpan.Zero))
            {
                NodeInfo.CurrentOperation = OperationType.WarmUp;
                await LoadAsync([.. _scenarios.Where(s => s.WarmUpDuration > TimeSpan.Zero).Select(WarmUp)], ScenarioOperation.WarmUp).ConfigureAwait(false);
            }
            NodeInfo.CurrentOperation = OperationType.Bombing;
            stats = await LoadAsync(_scenarios, ScenarioOperation.Bombing).ConfigureAwait(false);
        }
        finally
        {
            NodeInfo.CurrentOperation = OperationType.Complete;
            await EachAsync(s => s.Clean, ScenarioOperation.Clean).ConfigureAwait(false);
        }
        if (_stopReason is not null)
        {
            _console.Profile.Out.Writer.WriteLine($"Stopped: {_stopReason}");
        }
        _console.Profile.Out.Writer.WriteLine(TextReport.Txt(stats));
        stats.ReportFiles = ReportFolder.Write(_context, stats);
        return stats;
    }

    private static ScenarioProps WarmUp(ScenarioProps scenario) =>
        scenario with { LoadSimulations = [Phases.WarmUp(scenario.LoadSimulations, scenario.WarmUpDuration)] };

    private async Task<NodeStats> LoadAsync(IReadOnlyList<ScenarioProps> scenarios, ScenarioOperation operation)
    {
        IReadOnlyList<ScenarioRun> runs = [.. scenarios.Where(s => s.Run is not null).Select(s => new ScenarioRun(this, s, operation))];
        try
        {
            lock (_gate)
            {
                _runs = _stopReason is null ? runs : [];
            }
            var load = Task.WhenAll(_runs.Select(r => r.RunAsync()));
            await new Reports.Progress(_console, _context.ReportingInterval, operation).ShowAsync(runs, load).ConfigureAwait(false);
            await load.ConfigureAwait(false);
            return Stats(runs);
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

    private NodeStats Stats(IReadOnlyList<ScenarioRun> runs)
    {
        var scenarios = runs.Select(r => r.Stats(OperationType.Complete)).ToArray();
        for (var i = 0; i < scenarios.Length; i++)
        {
            scenarios[i].SortIndex = i;
        }
        return new NodeStats
        {
            ScenarioStats = scenarios,
            NodeInfo = NodeInfo,
            TestInfo = TestInfo,
            AllRequestCount = scenarios.Sum(s => s.AllRequestCount),
            AllOkCount = scenarios.Sum(s => s.AllOkCount),
            AllFailCount = scenarios.Sum(s => s.AllFailCount),
            AllBytes = scenarios.Sum(s => s.AllBytes),
            Duration = scenarios.Length == 0 ? TimeSpan.Zero : scenarios.Max(s => s.Duration),
            ReportFiles = [],
        };
    }

    private async Task EachAsync(Func<ScenarioProps, Func<IScenarioInitContext, Task>?> part, ScenarioOperation operation)
    {
        foreach (var scenario in _scenarios)
        {
            if (part(scenario) is { } run)
            {
                await run(new InitContext(this, new ScenarioInfo(scenario.ScenarioName, 0, TimeSpan.Zero, operation))).ConfigureAwait(false);
            }
        }
    }

    private void Interrupted(PosixSignalContext signal)
    {
        signal.Cancel = true;
        Stop($"{signal.Signal} received.");
    }

    private void RequireValid()
    {
        if (_scenarios.Count == 0)
        {
            throw new InvalidOperationException("No scenario is registered.");
        }
        if (_scenarios.GroupBy(s => s.ScenarioName, StringComparer.Ordinal).FirstOrDefault(g => string.IsNullOrWhiteSpace(g.Key) || g.Count() > 1) is { } wrong)
        {
            throw new InvalidOperationException($"A scenario's name must be given and be its own; one is '{wrong.Key}'.");
        }
        if (_context.ReportingInterval < ShortestInterval)
        {
            throw new InvalidOperationException($"The reporting interval must be {ShortestInterval} or longer; it is {_context.ReportingInterval}.");
        }
        foreach (var scenario in _scenarios)
        {
            foreach (var simulation in scenario.LoadSimulations)
            {
                Phases.RequireValid(scenario.ScenarioName, simulation);
            }
        }
    }

    private sealed class InitContext(Session session, ScenarioInfo info) : IScenarioInitContext
    {
        public TestInfo TestInfo => session.TestInfo;

        public ScenarioInfo ScenarioInfo => info;

        public NodeInfo NodeInfo => session.NodeInfo;
    }
}
