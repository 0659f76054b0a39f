using Billing.Auditing;
using Billing.Reporting;
using Billing.Scenarios;
using Spectre.Console;

namespace Billing.Measuring.Scenarios;

/// <summary>Loads a stack of its own, or proxies that run already; writes the reports and compares the figures with the
/// thresholds. With a stack of its own, the audit follows.</summary>
internal sealed class LoadRun(LoadPlan plan, IAnsiConsole console)
{
    private const int Interrupted = 130;

    /// <summary>Runs it.</summary>
    /// <returns>The process's exit code: 0 if calls were answered, every threshold holds and the audit is clean; 130 where the
    /// token ended it early, with reports of what there was.</returns>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        // Before anything is started, so that what is not there costs no run.
        ScenarioProcess.RequireBuilt();
        Directory.CreateDirectory(plan.Subject.Out);
        if (plan.Subject.Targets.Count > 0)
        {
            return await ConcludeAsync(await MeasureAsync(plan.Subject.Targets, transport: null, journal: null, cancellationToken), audit: null);
        }
        await using var stack = await Starting.StackAsync(plan.Subject.Stack, console, cancellationToken);
        var journal = Path.Combine(stack.Folder.FullName, "load.csv");
        var summary = await MeasureAsync(stack.ProxyAddresses, stack.Transport, journal, cancellationToken);
        var audit = summary.Interrupted
            ? null
            : await new Auditor(stack.ConnectionString).RunAsync(File.Exists(journal) ? [journal] : [], cancellationToken);
        return await ConcludeAsync(summary, audit);
    }

    private async Task<LoadSummary> MeasureAsync(
        IReadOnlyList<string> proxies, string? transport, string? journal, CancellationToken cancellationToken)
    {
        console.WriteLine($"Loading {string.Join(", ", proxies)} with {plan.Scenario}: {plan.Shape}");
        var result = await ScenarioProcess.RunAsync(plan, proxies, journal, cancellationToken);
        return LoadSummary.Of(plan, result, transport, proxies.Count, cancellationToken.IsCancellationRequested);
    }

    private async Task<int> ConcludeAsync(LoadSummary summary, AuditResult? audit)
    {
        if (audit is not null)
        {
            summary = summary with { Audit = AuditCounts.Of(audit) };
            AuditTable.Print(console, audit);
        }
        SayWhatLatenciesAre(summary.Calls);
        var path = Path.Combine(plan.Subject.Out, "summary.json");
        await summary.WriteAsync(path);
        console.WriteLine($"Reports: {plan.Subject.Out}");
        if (summary.Interrupted)
        {
            console.WriteLine("Stopped before its time; the reports hold what was measured until then.");
            return Interrupted;
        }
        return Passes(summary) && audit?.IsClean != false ? 0 : 1;
    }

    private void SayWhatLatenciesAre(CallFigures calls)
    {
        console.WriteLine(plan.Shape is LoadShape.Burst
            ? "Latencies count from the moment meant for all calls of the burst."
            : "Latencies are NBomber's: they count from when each call was sent, not from when it was due.");
        if (calls.Failed > 0)
        {
            console.WriteLine(FailedRequests.Sentence(calls.Failed));
        }
    }

    private bool Passes(LoadSummary summary)
    {
        foreach (var threshold in summary.Thresholds)
        {
            console.WriteLine(threshold.ToString());
        }
        if (summary.Calls.Ok == 0)
        {
            console.WriteLine("No call was answered.");
        }
        return summary.Calls.Ok > 0 && !summary.Thresholds.Any(t => t.Missed);
    }
}
