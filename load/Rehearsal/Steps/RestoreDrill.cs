using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>Restores the database to a point in time after a backup, beside the running one: the restored database must
/// contain everything that clients had been answered by that time.</summary>
internal static class RestoreDrill
{
    public static async Task<int> BackupsAsync(Platform platform, CancellationToken cancellationToken) =>
        int.Parse(await (await PrimaryAsync(platform, cancellationToken)).RunAsync(
            "runuser -u postgres -- pgbackrest --stanza=billing info | grep -c 'backup: '", cancellationToken));

    /// <summary>Makes a backup.</summary>
    public static async Task BackUpAsync(Platform platform, CancellationToken cancellationToken) =>
        await (await PrimaryAsync(platform, cancellationToken))
            .RunAsync("runuser -u postgres -- billing-backup", cancellationToken);

    /// <summary>Returns the present time, to which the database can be restored.</summary>
    public static async Task<string> MomentAsync(Platform platform, CancellationToken cancellationToken) =>
        (await (await PrimaryAsync(platform, cancellationToken))
            .RunAsync("runuser -u postgres -- psql -qAt -c 'select clock_timestamp()'", cancellationToken)).Trim();

    /// <summary>Restores the database to a point in time and audits the answers before it.</summary>
    /// <param name="journals">The journals of the runs that had ended by then, as a shell pattern.</param>
    /// <returns>Whether the audit is clean, and the output of restore and audit.</returns>
    public static async Task<(bool IsClean, string Printed)> RunAsync(
        Platform platform, string moment, string journals, CancellationToken cancellationToken)
    {
        var database = await PrimaryAsync(platform, cancellationToken);
        var restored = await database.RunAsync($"billing-restore '{moment}'", cancellationToken);
        var (isClean, printed) = await StoreAudit.AuditAsync(
            database, "127.0.0.1:5433", journals, "", cancellationToken);
        await database.RunAsync("billing-restore --drop", cancellationToken);
        return (isClean, restored.TrimEnd() + Environment.NewLine + printed);
    }

    /// <summary>Restores the database to a point in time and replaces the running one by it, while the backends are
    /// stopped; the standby copies it.</summary>
    public static async Task TakeOverAsync(Platform platform, string moment, CancellationToken cancellationToken)
    {
        var backends = platform.Tier("payment-backend").Concat(platform.Tier("balance-backend")).ToList();
        await Task.WhenAll(
            backends.Select(backend => backend.RunAsync("systemctl stop billing-backend", cancellationToken)));
        await (await PrimaryAsync(platform, cancellationToken))
            .RunAsync($"billing-restore '{moment}' && billing-restore --take-over", cancellationToken);
        await Task.WhenAll(backends.Select(backend => backend.RunAsync(
            "systemctl start billing-backend && curl -fsS -o /dev/null --retry 60 --retry-delay 1 --retry-all-errors "
                + $"http://{backend.Machine.Address}:5001/health/ready", cancellationToken)));
        await DatabaseMachines.StandbyAsync(platform, cancellationToken);
    }

    /// <summary>Loses all machines of the first database with their disks and restores it on new ones.
    /// Everything was archived before.</summary>
    public static async Task LoseAllAsync(Platform platform, CancellationToken cancellationToken)
    {
        await (await PrimaryAsync(platform, cancellationToken))
            .RunAsync("runuser -u postgres -- pgbackrest --stanza=billing check", cancellationToken);
        var lost = DatabaseMachines.OfFirst(platform);
        foreach (var machine in lost)
        {
            await platform.BurnAsync(machine, cancellationToken);
        }
        // Their installation waits for a primary, which there is when one of them has restored the database.
        var installed = Task.WhenAll(lost.Select(machine => platform.ReplaceAsync(machine.Machine, cancellationToken)));
        var first = await Poll.LastAsync(
            () => Task.FromResult(platform[lost[0].Machine.Name]), machine => machine != lost[0],
            TimeSpan.FromMinutes(4), TimeSpan.FromSeconds(1), cancellationToken);
        await first.RunAsync(
            "for _ in {1..240}; do ! systemctl is-active --quiet patroni || break; sleep 1; done; "
                + "billing-restore latest && billing-restore --take-over", cancellationToken);
        await installed;
        await DatabaseMachines.StandbyAsync(platform, cancellationToken);
    }

    private static Task<RunningMachine> PrimaryAsync(Platform platform, CancellationToken cancellationToken) =>
        DatabaseMachines.PrimaryAsync(platform, cancellationToken);
}
