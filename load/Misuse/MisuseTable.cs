using System.Globalization;
using System.Text;
using Billing.Misuse.Attacks;
using Billing.Misuse.Watching;

namespace Billing.Misuse;

/// <summary>The shapes that were tried, as a table.</summary>
internal static class MisuseTable
{
    /// <summary>The names of the columns.</summary>
    public static IReadOnlyList<string> Columns { get; } =
        ["attack", "front", "credential", "layout", "MB", "p99", "failed", "what happened to it"];

    /// <summary>The cells of a trial: the peak of the proxy's memory, others' p99 in milliseconds and how many times
    /// that of quiet it is, and what happened to the callers in words.</summary>
    public static IReadOnlyList<string> Cells(Trial trial)
    {
        var shape = trial.Shape;
        return
        [
            shape.Attack.Name, Shape.NameOf(shape.Front), Shape.NameOf(shape.Credential), $"{shape.Layout}",
            Megabytes(trial.Facts.Services[0].Peak),
            string.Create(
                CultureInfo.InvariantCulture, $"{P99(trial):0} ({P99(trial) / trial.Facts.QuietP99Ms:0.0})"),
            $"{trial.Facts.Others.Failed}", trial.Result.Kinds,
        ];
    }

    /// <summary>A trial in all detail.</summary>
    public static string Line(Trial trial) => string.Create(
        CultureInfo.InvariantCulture,
        $"{trial.Shape.Name}: "
            + $"{string.Join(", ", trial.Facts.Services.Select(s => $"{s.Name} {Megabytes(s.Peak)}"))} MB; "
            + $"others' p99 {P99(trial):0.0} ms, {trial.Facts.QuietP99Ms:0.0} in quiet, {trial.Facts.Others.Answered} "
            + $"answered, {trial.Facts.Others.Failed} failed; {trial.Result}")
        + string.Concat(trial.Wrong.Select(wrong => "\n  WRONG: " + wrong));

    /// <summary>The whole table in markdown, what the run was, and below it what must not be.</summary>
    /// <param name="options">The options of the run.</param>
    /// <param name="machine">The machine, in words.</param>
    /// <param name="unlimited">Why the kernel did not limit the services' memory; null if it did.</param>
    public static string Markdown(
        IReadOnlyList<Trial> trials, MisuseOptions options, string machine, string? unlimited)
    {
        var backends = trials.SelectMany(trial => trial.Facts.Services.Skip(1)).Select(service => service.Peak)
            .DefaultIfEmpty().Max();
        var text = new StringBuilder();
        Add($"`./billing misuse --seed {options.Seed}`: {trials.Count} of {options.Shapes.Count} shapes, {machine}.");
        Add($"Backends had at most {Megabytes(backends)} MB.");
        if (unlimited is not null)
        {
            Add($"The kernel did not limit the memory of the services: {unlimited}");
        }
        Add("");
        Add(Row(Columns));
        Add(Row(Columns.Select(_ => "---")));
        foreach (var trial in trials)
        {
            Add(Row(Cells(trial)));
        }
        Add("");
        foreach (var wrong in trials.SelectMany(trial => trial.Wrong.Select(wrong => (trial.Shape.Name, wrong))))
        {
            Add($"- {wrong.Name}: {wrong.wrong}");
        }
        return text.ToString();

        void Add(string line) => text.Append(line).Append('\n');
    }

    private static double P99(Trial trial) => OthersFigures.P99Ms(trial.Facts.Others);

    private static string Row(IEnumerable<string> cells) => $"| {string.Join(" | ", cells)} |";

    private static string Megabytes(long bytes) => (bytes / 1e6).ToString("0", CultureInfo.InvariantCulture);
}
