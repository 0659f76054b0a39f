namespace Billing.Rehearsal.Steps;

/// <summary>The memory use of a service.</summary>
/// <param name="ResidentPeakBytes">The peak resident memory of its main process or, if larger, the current memory of
/// all its processes.</param>
/// <param name="MachinePeakBytes">The peak memory use of the whole machine, including the page cache.</param>
internal sealed record MemoryUse(string Machine, string Service, long ResidentPeakBytes, long MachinePeakBytes)
{
    /// <summary>The limit for a service on a machine with 1 GB.</summary>
    public const long BoundBytes = 400_000_000;

    /// <summary>Reads the memory use of all running services.</summary>
    public static async Task<IReadOnlyList<MemoryUse>> OfAllAsync(
        Platform platform, CancellationToken cancellationToken)
    {
        var uses = new List<MemoryUse>();
        foreach (var machine in platform.Machines)
        {
            var unit = machine.Machine.Tier switch
            {
                "kafka" => "billing-kafka",
                "postgres" => "patroni",
                "proxy" => "billing-proxy",
                "payment-backend" or "balance-backend" => "billing-backend",
                "monitoring" => "prometheus",
                _ => null,
            };
            if (unit is not null)
            {
                uses.Add(new MemoryUse(
                    machine.Machine.Name, unit,
                    await machine.ResidentAsync(unit, cancellationToken), machine.PeakBytes));
            }
        }
        return uses;
    }
}
