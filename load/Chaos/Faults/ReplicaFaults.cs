using Billing.Chaos.Network;
using Billing.LocalStack.Postgres;

namespace Billing.Chaos.Faults;

/// <summary>The faults of several PostgreSQL servers. Each ends when all servers run again and a standby has every
/// commit: what two lost disks at once would lose is gone.</summary>
/// <param name="postgres">The servers.</param>
/// <param name="between">The network between them; null if it cannot be cut.</param>
internal sealed class ReplicaFaults(ReplicatedPostgres postgres, PeerNetwork? between)
{
    /// <summary>Injects a fault, waits, and repairs it.</summary>
    /// <param name="kind">One for which <see cref="FaultProfile.IsOfReplicas"/> holds.</param>
    /// <param name="wait">Waits for as long as the fault lasts.</param>
    /// <param name="cancellationToken">Cancels it, possibly without the repair.</param>
    public async Task InjectAsync(FaultKind kind, Func<Task> wait, CancellationToken cancellationToken)
    {
        switch (kind)
        {
            case FaultKind.BurnPrimary:
                await BurnAsync(await postgres.PrimaryAsync(cancellationToken), wait);
                break;
            case FaultKind.BurnStandby:
                await BurnAsync(await postgres.StandbyAsync(cancellationToken), wait);
                break;
            case FaultKind.FreezePrimary:
                var frozen = await postgres.PrimaryAsync(cancellationToken);
                await FaultInjector.FreezeAsync(frozen.Pause, frozen.Resume, wait);
                break;
            case FaultKind.KillPatroni:
                var alone = await postgres.PrimaryAsync(cancellationToken);
                await alone.KillPatroniAsync();
                await wait();
                alone.Start();
                break;
            case FaultKind.KillEtcd:
                await postgres.KillEtcdAsync();
                await wait();
                await postgres.StartEtcdAsync(cancellationToken);
                break;
            case FaultKind.CutStandby:
                await FaultInjector.FreezeAsync(() => between!.CutOff(Cut.Both), () => between!.CutOff(Cut.None), wait);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(kind), kind, "There is no such fault.");
        }
        await postgres.WaitUntilSafeAsync(cancellationToken);
    }

    // The new disk is empty.
    private static async Task BurnAsync(PostgresMember member, Func<Task> wait)
    {
        await member.BurnAsync();
        await wait();
        member.Start();
    }
}
