namespace Billing.Rehearsal.Steps;

/// <summary>What a service has taken of its machine.</summary>
/// <param name="Machine">Which.</param>
/// <param name="Service">Its unit.</param>
/// <param name="ResidentPeakBytes">The largest resident memory of its main process, or what all of its processes have together.</param>
/// <param name="MachinePeakBytes">The most that all of the machine took at a time, page cache included.</param>
internal sealed record MemoryUse(string Machine, string Service, long ResidentPeakBytes, long MachinePeakBytes)
{
    /// <summary>What a service may take of a machine of 1 GB.</summary>
    public const long BoundBytes = 400_000_000;

    /// <summary>All services that run.</summary>
    public static async Task<IReadOnlyList<MemoryUse>> OfAllAsync(Platform platform, CancellationToken cancellationToken)
    {
        var uses = new List<MemoryUse>();
        foreach (var machine in platform.Machines)
        {
            var unit = machine.Machine.Tier switch
            {
                "kafka" => "billing-kafka",
                "postgres" => "postgresql@15-main",
                "proxy" => "billing-proxy",
                "payment-backend" or "balance-backend" => "billing-backend",
                "monitoring" => "prometheus",
                _ => null,
            };
            if (unit is not null)
            {
                uses.Add(new MemoryUse(machine.Machine.Name, unit, await machine.ResidentAsync(unit, cancellationToken), machine.PeakBytes));
            }
        }
        return uses;
    }
}
