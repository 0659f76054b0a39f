using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>Runs the audit with the release's command line, on the operator's machine.</summary>
internal static class StoreAudit
{
    // All clients keep journals. The clocks of several machines differ, by little if they are synchronized.
    private const string Journals = $"--complete --clock-tolerance 20 --opening-limit USD={Platform.OpeningLimit}";

    /// <summary>Compares all answers to the clients with the event store and with the proxies' answers.</summary>
    /// <returns>Whether the audit is clean, and its output.</returns>
    public static async Task<(bool IsClean, string Printed)> AuditAsync(
        Platform platform, CancellationToken cancellationToken)
    {
        var machine = platform.Tier("monitoring")[0];
        await CallerAccess.GiveAsync(platform.Site, machine, "root", "accounts:read");
        return await AuditAsync(
            machine, platform.Topology[machine.Machine.Name].Environment["BILLING_POSTGRES"],
            "/srv/billing/shared/*.csv",
            $"--proxies {machine.Machine.Proxies} --ca {CallerAccess.CaFile} --token-file {CallerAccess.TokenFile}",
            cancellationToken);
    }

    /// <summary>Compares journals with databases.</summary>
    /// <param name="databases">As in <c>BILLING_POSTGRES</c>.</param>
    public static async Task<(bool IsClean, string Printed)> AuditAsync(
        RunningMachine machine, string databases, string journals, string flags, CancellationToken cancellationToken)
    {
        var (exitCode, output, errors) = await machine.Shell().TryAsync(
            [
                $"/opt/billing/operator/Billing.Operator audit {DatabaseMachines.Options(databases, "audit")} "
                    + $"{Journals} {flags} {journals}",
            ],
            cancellationToken);
        return (exitCode == 0, (output + errors).TrimEnd());
    }
}
