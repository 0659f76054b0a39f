using Billing.ScenarioFiles;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.Scenarios;

/// <summary>Runs a scenario with NBomber and reads its figures.</summary>
internal sealed class ScenarioRun(ScenarioSpec spec, TimeProvider time)
{
    private static readonly TimeSpan ReportingInterval = TimeSpan.FromSeconds(5);

    /// <summary>Runs the scenario, with progress on the console and reports in the folder.</summary>
    /// <param name="interrupt">Ends it early; the figures measured so far are returned.</param>
    public async Task<ScenarioResult> RunAsync(CancellationToken interrupt)
    {
        await using var calls = new BillingCalls(spec, time, interrupt);
        var measured = new MeasuredTime(time);
        var scenario = new BillingScenario(spec, calls, measured, time, interrupt);
        var node = await Task.Run(() => NBomberRunner.RegisterScenarios(scenario.Props())
            .WithTestSuite("billing")
            .WithTestName(spec.Scenario)
            .WithReportFolder(spec.ReportFolder)
            .WithReportFileName(spec.Scenario)
            .WithReportFormats(ReportFormat.Txt, ReportFormat.Csv, ReportFormat.Html, ReportFormat.Md)
            .WithReportingInterval(ReportingInterval)
            .Run(), CancellationToken.None);
        var duration = measured.Elapsed;
        if (duration < spec.Shape.Planned && !interrupt.IsCancellationRequested)
        {
            duration = spec.Shape.Planned;
        }
        return Figures.Of(node.ScenarioStats.Single(), duration) with { Retried = calls.Retried };
    }
}
