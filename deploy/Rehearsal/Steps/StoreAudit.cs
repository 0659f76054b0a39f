using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The audit, by the command line of the release, on the machine that an operator has for that.</summary>
internal static class StoreAudit
{
    /// <summary>Audits all that clients were told against the event store, and against what the proxies say.</summary>
    /// <returns>Whether it is clean, and what it printed.</returns>
    public static Task<(bool IsClean, string Printed)> AuditAsync(Platform platform, CancellationToken cancellationToken)
    {
        var machine = platform.Tier("monitoring")[0];
        return AuditAsync(
            machine, machine.Machine.Environment["BILLING_POSTGRES"], "/srv/billing/shared/*.csv",
            "--proxies " + string.Join(',', machine.Machine.Environment["BILLING_PROXIES"].Split(',').Select(address => "http://" + address)),
            cancellationToken);
    }

    /// <summary>Audits journals against a database.</summary>
    /// <param name="machine">Where to run it.</param>
    /// <param name="postgres">The database, host:port.</param>
    /// <param name="journals">A shell's pattern.</param>
    /// <param name="flags">Further flags.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public static async Task<(bool IsClean, string Printed)> AuditAsync(
        RunningMachine machine, string postgres, string journals, string flags, CancellationToken cancellationToken)
    {
        var at = postgres.Split(':');
        var (exitCode, output, errors) = await machine.Shell().TryAsync(
            [$"/opt/billing/cli/Billing.Cli audit --postgres \"Host={at[0]};Port={at[1]};Database=billing;Username=billing_audit;Password=$(</etc/billing/secrets/postgres/audit)\" {flags} {journals}"],
            cancellationToken);
        return (exitCode == 0, (output + errors).TrimEnd());
    }
}
