using System.Globalization;
using Billing.Reporting;

namespace Billing.Measuring;

/// <summary>What one must know to read any figures.</summary>
internal static class Facts
{
    /// <summary>What figures were measured on, and what was measured.</summary>
    public static IEnumerable<Fact> Of(Machine machine)
    {
        var processor = machine.Processor is { } name ? $" ({name})" : "";
        yield return new("Machine", string.Create(
            CultureInfo.InvariantCulture, $"{machine.Cores} cores{processor}, {machine.MemoryGib} GiB, {machine.Os}, {machine.Runtime}"));
        if (machine.Software is not { } software)
        {
            yield break;
        }
        yield return new("Commit", software.Commit ?? "not known");
        yield return new("Packages", string.Join(", ", software.Packages.Select(p => p.Key + " " + p.Value)));
        yield return new("Kafka here", software.KafkaHere ?? "none");
        yield return new("PostgreSQL here", software.PostgresHere ?? "none");
        yield return new("Runtime settings", string.Join(", ", software.RuntimeSettings.Select(s => s.Key + "=" + s.Value)));
        if (software.StandIns().Any())
        {
            yield return new("Not genuine", $"These figures are of stand-ins for {string.Join(", ", software.StandIns())}.");
        }
    }

    public static IReadOnlyList<Fact> Of(RunInfo run) =>
    [
        new("Command", run.Command),
        new("Date", run.At.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)),
        .. Of(run.Machine),
        .. run.Complete ? Array.Empty<Fact>() : [new Fact("Incomplete", $"Stopped before its end{(run.Reason is { } reason ? $" ({reason})" : "")}; these are the figures by then.")],
    ];
}
