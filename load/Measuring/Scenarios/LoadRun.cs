using Billing.Auditing;
using Billing.LocalStack;
using Billing.Operator.Audits;
using Billing.Reporting;
using Billing.ScenarioFiles;
using Spectre.Console;

namespace Billing.Measuring.Scenarios;

/// <summary>Loads a stack of its own, or proxies that are already running, writes the reports and compares the figures
/// with the thresholds. A stack of its own is audited afterwards.</summary>
internal sealed class LoadRun(LoadPlan plan, IAnsiConsole console)
{
    private const int Interrupted = 130;

    /// <summary>Runs the scenario and reports the results.</summary>
    /// <returns>The process's exit code: 0 if calls were answered, every threshold is met and the audit is clean;
    /// 130 if it was interrupted, in which case the reports cover the time until then.</returns>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        // Checked first, so that a missing program is reported before a stack is started.
        ScenarioProcess.RequireBuilt();
        Directory.CreateDirectory(plan.Subject.Out);
        if (plan.Subject.Targets.Count > 0)
        {
            return await ConcludeAsync(
                await MeasureAsync(plan.Subject.Targets, transport: null, journal: null, cancellationToken),
                audit: null);
        }
        await using var stack = await Starting.StackAsync(plan.Subject.Stack, console, cancellationToken);
        var journal = Path.Combine(stack.Folder.FullName, "load.csv");
        var summary = await MeasureAsync(stack.ProxyAddresses, stack.Transport, journal, cancellationToken);
        var audit = summary.Interrupted
            ? null
            : await new Auditor([.. stack.Databases.Values])
            {
                JournalsAreComplete = stack.OwnsEventStore,
                OpeningLimits = BillingStack.OpeningLimits,
            }
                .RunAsync(File.Exists(journal) ? [journal] : [], cancellationToken);
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
        PrintLatencyDefinition(summary.Calls);
        var path = Path.Combine(plan.Subject.Out, "summary.json");
        await summary.WriteAsync(path);
        console.WriteLine($"Reports: {plan.Subject.Out}");
        if (summary.Interrupted)
        {
            console.WriteLine("Interrupted; the reports cover the time until then.");
            return Interrupted;
        }
        return Passes(summary) && audit?.IsClean != false ? 0 : 1;
    }

    private void PrintLatencyDefinition(CallFigures calls)
    {
        console.WriteLine(plan.Shape is LoadShape.Burst
            ? "Latencies count from the start of the burst, at which all calls were due."
            : "Latencies are NBomber's: they count from the sending of each call, not from the time at "
                + "which it was due.");
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
