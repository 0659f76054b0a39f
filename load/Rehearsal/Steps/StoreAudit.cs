using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>Runs the audit with the release's command line, on the operator's machine.</summary>
internal static class StoreAudit
{
    // All clients keep journals. The clocks of several machines differ, by little if they are synchronized.
    private const string Journals = "--complete --clock-tolerance 20";

    /// <summary>Compares all answers to the clients with the event store and with the proxies' answers.</summary>
    /// <returns>Whether the audit is clean, and its output.</returns>
    public static Task<(bool IsClean, string Printed)> AuditAsync(Platform platform, CancellationToken cancellationToken)
    {
        var machine = platform.Tier("monitoring")[0];
        return AuditAsync(
            machine, machine.Machine.Environment["BILLING_POSTGRES"], "/srv/billing/shared/*.csv",
            "--proxies " + machine.Machine.Proxies,
            cancellationToken);
    }

    /// <summary>Compares journals with a database.</summary>
    /// <param name="postgres">The database's servers, host:port separated by commas.</param>
    public static async Task<(bool IsClean, string Printed)> AuditAsync(
        RunningMachine machine, string postgres, string journals, string flags, CancellationToken cancellationToken)
    {
        var (exitCode, output, errors) = await machine.Shell().TryAsync(
            [$"/opt/billing/cli/Billing.Cli audit --postgres \"Host={postgres};{(postgres.Contains(',', StringComparison.Ordinal) ? "Target Session Attributes=primary;" : "")}Database=billing;Username=billing_audit;Password=$(</etc/billing/secrets/postgres/audit)\" {Journals} {flags} {journals}"],
            cancellationToken);
        return (exitCode == 0, (output + errors).TrimEnd());
    }
}
