using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>A base backup, and later a restore to a moment after it, beside the running database: everything that clients had been
/// told by that moment must be in it.</summary>
internal static class RestoreDrill
{
    /// <summary>Makes a base backup.</summary>
    public static Task BackUpAsync(Platform platform, CancellationToken cancellationToken) =>
        Database(platform).RunAsync("systemctl start billing-backup.service", cancellationToken);

    /// <summary>The moment now, by the database's clock.</summary>
    public static async Task<string> MomentAsync(Platform platform, CancellationToken cancellationToken) =>
        (await Database(platform).RunAsync("runuser -u postgres -- psql -qAt -c 'select clock_timestamp()'", cancellationToken)).Trim();

    /// <summary>Restores as of a moment and audits what was told until then.</summary>
    /// <param name="platform">The machines.</param>
    /// <param name="moment">As <see cref="MomentAsync"/> gave it.</param>
    /// <param name="journals">The journals of the runs that had ended by then, as a shell's pattern.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Whether the audit is clean, and what restore and audit printed.</returns>
    public static async Task<(bool IsClean, string Printed)> RunAsync(
        Platform platform, string moment, string journals, CancellationToken cancellationToken)
    {
        var database = Database(platform);
        var restored = await database.RunAsync($"billing-restore '{moment}'", cancellationToken);
        var (isClean, printed) = await StoreAudit.AuditAsync(database, "127.0.0.1:5433", journals, "", cancellationToken);
        await database.RunAsync("billing-restore --drop", cancellationToken);
        return (isClean, restored.TrimEnd() + Environment.NewLine + printed);
    }

    /// <summary>Restores as of a moment, and lets what was restored take the place of the running database, with the backends stopped
    /// meanwhile.</summary>
    /// <exception cref="StackException">A command failed, or a backend is not ready afterwards.</exception>
    public static async Task TakeOverAsync(Platform platform, string moment, CancellationToken cancellationToken)
    {
        var backends = platform.Tier("payment-backend").Concat(platform.Tier("balance-backend")).ToList();
        await Task.WhenAll(backends.Select(backend => backend.RunAsync("systemctl stop billing-backend", cancellationToken)));
        await Database(platform).RunAsync($"billing-restore '{moment}' && billing-restore --take-over", cancellationToken);
        await Task.WhenAll(backends.Select(backend => backend.RunAsync(
            $"systemctl start billing-backend && curl -fsS -o /dev/null --retry 60 --retry-delay 1 --retry-all-errors http://{backend.Machine.Address}:5001/health/ready", cancellationToken)));
    }

    private static RunningMachine Database(Platform platform) => platform.Tier("postgres")[0];
}
