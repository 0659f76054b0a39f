using System.Globalization;
using Billing.Auditing;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments;

/// <summary>Runs experiments: all sides of a part take turns in one session of several rounds, of which the first is
/// dropped. The order is reversed in every other round, so that a machine that becomes slower or faster favours no
/// side. At the end every store is audited.</summary>
internal sealed class ExperimentRunner(Experiment experiment, Measurement measurement, IAnsiConsole console)
{
    // In the order of their first measurements.
    private readonly OrderedDictionary<(string Section, string Case, string Side), ResultRow> _rows = [];
    private readonly List<AuditCounts> _audits = [];
    private bool _failed;
    private bool _hasStore;

    public static ResultFormat<ExperimentResult> FormatOf(string kind) =>
        new(kind, ExperimentJson.Default.ExperimentResult, ExperimentPage.Of);

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if no request failed that must not and every audit is clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(FormatOf(experiment.Kind), MeasureAsync, Result, cancellationToken);

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        foreach (var part in experiment.Parts)
        {
            await (part.IsCold ? RunColdAsync(part, cancellationToken) : RunWarmAsync(part, cancellationToken));
        }
    }

    private async Task RunWarmAsync(Part part, CancellationToken cancellationToken)
    {
        var sides = new List<Side>();
        try
        {
            foreach (var plan in part.Sides)
            {
                sides.Add(await plan.StartAsync(cancellationToken));
            }
            for (var round = 0; round <= part.Rounds; round++)
            {
                foreach (var (measured, side) in InTurn(part, sides, round))
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    await MeasureAsync(measured, side, keeps: round > 0, cancellationToken);
                }
            }
            foreach (var side in sides)
            {
                await AuditAsync(side, cancellationToken);
            }
        }
        finally
        {
            foreach (var side in sides)
            {
                await side.DisposeAsync();
            }
        }
    }

    private async Task RunColdAsync(Part part, CancellationToken cancellationToken)
    {
        for (var round = 1; round <= part.Rounds; round++)
        {
            foreach (var (measured, plan) in InTurn(part, part.Sides, round))
            {
                await using var side = await plan.StartAsync(cancellationToken);
                await MeasureAsync(measured, side, keeps: true, cancellationToken);
                await AuditAsync(side, cancellationToken);
            }
        }
    }

    private static IEnumerable<(Case Case, T Side)> InTurn<T>(Part part, IReadOnlyList<T> sides, int round)
    {
        foreach (var measured in round % 2 == 0 ? part.Cases : part.Cases.Reverse())
        {
            foreach (var side in round % 2 == 0 ? sides : sides.Reverse())
            {
                yield return (measured, side);
            }
        }
    }

    private async Task MeasureAsync(Case measured, Side side, bool keeps, CancellationToken cancellationToken)
    {
        var figures = await measured.MeasureAsync(side, cancellationToken);
        // What was interrupted is not a figure.
        cancellationToken.ThrowIfCancellationRequested();
        _failed |= figures.Failed > 0 && !measured.MayFail;
        if (keeps)
        {
            Keep(measured, figures, side.Name);
        }
    }

    private void Keep(Case measured, Measured figures, string side)
    {
        var (name, section) = (measured.Name, measured.Section);
        var key = (section, name, side);
        var row = (_rows.TryGetValue(key, out var known) ? known : null) ?? new ResultRow(name, side, [])
        {
            Position = measured.Position,
            Published = measured.Published.GetValueOrDefault(side) ?? new Dictionary<string, double>(),
        };
        _rows[key] = row with { Rounds = [.. row.Rounds, figures] };
        var shown = experiment.Sections.First(s => s.Title == section).Columns
            .Where(f => figures.Figures.ContainsKey(f.Id)).Take(4)
            .Select(f => $"{f.Name} {ExperimentPage.Text(f, figures.Figures[f.Id])} {f.Unit}".TrimEnd());
        console.WriteLine(
            $"{name}, {side}: {string.Join(", ", shown)}, failed "
            + $"{figures.Failed.ToString(CultureInfo.InvariantCulture)}");
    }

    private async Task AuditAsync(Side side, CancellationToken cancellationToken)
    {
        _hasStore |= side is StackSide;
        if (await side.AuditAsync(console, cancellationToken) is { } audit)
        {
            _audits.Add(audit);
        }
    }

    private ExperimentResult Result(RunInfo run) => new()
    {
        Kind = experiment.Kind,
        Run = run,
        Title = experiment.Title,
        Facts = experiment.Facts,
        Source = experiment.Paper,
        Audits = _audits,
        HasStore = _hasStore,
        IsValid = !_failed && _rows.Count > 0,
        Sections = [.. experiment.Sections.Select(plan => SectionOf(plan)).Where(section => section.Rows.Count > 0)],
    };

    private ResultSection SectionOf(SectionPlan plan) => new()
    {
        Title = plan.Title,
        Text = plan.Text,
        Note = plan.Note,
        CaseHeading = plan.CaseHeading,
        Columns = plan.Columns,
        Compared = plan.Compared,
        Chart = plan.Chart,
        Charted = plan.Charted,
        // Cases in the order of the plan, and the sides of each in theirs.
        Rows =
        [
            .. _rows.Where(row => row.Key.Section == plan.Title)
                .OrderBy(row => PlaceOf(row.Key.Section, row.Key.Case)).ThenBy(row => PlaceOf(row.Key.Side))
                .Select(row => row.Value),
        ],
    };

    private int PlaceOf(string section, string name) =>
        experiment.Parts.SelectMany(part => part.Cases).Where(c => c.Section == section).Select(c => c.Name).ToList()
            .IndexOf(name);

    private int PlaceOf(string side) =>
        experiment.Parts.SelectMany(part => part.Sides).Select(plan => plan.Name).Distinct().ToList().IndexOf(side);
}
