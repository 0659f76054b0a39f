using System.Globalization;
using Billing.Reporting;

namespace Billing.Measuring;

/// <summary>The conditions under which figures were measured, for the head of a page.</summary>
internal static class Facts
{
    /// <summary>Lists the machine and the software that was measured.</summary>
    public static IEnumerable<Fact> Of(Machine machine)
    {
        var processor = machine.Processor is { } name ? $" ({name})" : "";
        yield return new("Machine", string.Create(
            CultureInfo.InvariantCulture,
            $"{machine.Cores} cores{processor}, {machine.MemoryGib} GiB, {machine.Os}, {machine.Runtime}"));
        var software = machine.Software;
        yield return new("Commit", software.Commit ?? "unknown");
        yield return new("Packages", string.Join(", ", software.Packages.Select(p => p.Key + " " + p.Value)));
        yield return new("Installed Kafka", software.KafkaHere ?? "none");
        yield return new("Installed PostgreSQL", software.PostgresHere ?? "none");
        yield return new(
            "Runtime settings", string.Join(", ", software.RuntimeSettings.Select(s => s.Key + "=" + s.Value)));
    }

    public static IReadOnlyList<Fact> Of(RunInfo run) =>
    [
        new("Command", run.Command),
        new("Date", run.At.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)),
        .. Of(run.Machine),
        .. run.Complete ? Array.Empty<Fact>() : [new Fact(
            "Incomplete",
            $"Ended early{(run.Reason is { } reason ? $" ({reason})" : "")}; "
                + "the figures cover the part that was measured.")],
    ];
}
