using System.Globalization;
using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.Domain;
using Spectre.Console;

namespace NBomber.Reports;

/// <summary>What a person sees while the load runs: a live table on a terminal, elsewhere a line each interval.</summary>
internal sealed class Progress(IAnsiConsole console, TimeSpan interval, ScenarioOperation operation)
{
    private static readonly TimeSpan Refresh = TimeSpan.FromMilliseconds(500);

    public Task ShowAsync(IReadOnlyList<ScenarioRun> runs, Task load) =>
        console.Profile.Capabilities.Interactive
            ? console.Live(Rows(runs)).StartAsync(live => RepeatAsync(Refresh, load, () => live.UpdateTarget(Rows(runs))))
            : RepeatAsync(interval, load, () => console.Profile.Out.Writer.WriteLine(string.Join("; ", runs.Select(Line))));

    private static async Task RepeatAsync(TimeSpan pause, Task load, Action show)
    {
        while (await Task.WhenAny(load, Task.Delay(pause)).ConfigureAwait(false) != load)
        {
            show();
        }
    }

    private string Line(ScenarioRun run)
    {
        var stats = run.Stats(OperationType.Bombing);
        var what = operation == ScenarioOperation.WarmUp ? " warms up" : "";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{run.Props.ScenarioName}{what}, {run.Elapsed:hh\\:mm\\:ss}, {run.Phase}: {stats.AllOkCount} ok, {stats.AllFailCount} failed, {run.CallsUnderWay} under way, {stats.Ok.Request.RPS:0.0}/s, p50 {stats.Ok.Latency.Percent50:0.00} ms, p99 {stats.Ok.Latency.Percent99:0.00} ms");
    }

    private Table Rows(IReadOnlyList<ScenarioRun> runs)
    {
        var table = new Table().Border(TableBorder.Rounded).Title(operation == ScenarioOperation.WarmUp ? "warm-up" : "load")
            .AddColumns("scenario", "time", "phase", "under way", "ok", "failed", "ok/s", "p50 ms", "p95 ms", "p99 ms");
        foreach (var run in runs)
        {
            var stats = run.Stats(OperationType.Bombing);
            table.AddRow(
                Markup.Escape(run.Props.ScenarioName), run.Elapsed.ToString("hh\\:mm\\:ss", CultureInfo.InvariantCulture), run.Phase,
                TextReport.Number(run.CallsUnderWay), TextReport.Number(stats.AllOkCount), TextReport.Number(stats.AllFailCount),
                TextReport.Decimal(stats.Ok.Request.RPS), TextReport.Decimal(stats.Ok.Latency.Percent50),
                TextReport.Decimal(stats.Ok.Latency.Percent95), TextReport.Decimal(stats.Ok.Latency.Percent99));
        }
        return table;
    }
}
