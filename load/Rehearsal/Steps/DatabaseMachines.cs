using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The machines of the database: which of them is the primary, and what happens when one burns with its disk.</summary>
internal static class DatabaseMachines
{
    // Far longer than a standby takes to become the primary.
    private static readonly TimeSpan Gone = TimeSpan.FromSeconds(30);

    /// <summary>Waits until one machine is the primary, for at most two minutes.</summary>
    public static Task<RunningMachine> PrimaryAsync(Platform platform, CancellationToken cancellationToken) =>
        FindAsync(platform, "primary", cancellationToken);

    /// <summary>Waits until the disk of one machine has every commit, for at most two minutes.</summary>
    public static Task<RunningMachine> StandbyAsync(Platform platform, CancellationToken cancellationToken) =>
        FindAsync(platform, "synchronous", cancellationToken);

    /// <summary>Ends a machine at once and deletes its disk; later, a new machine takes its place and becomes a standby.</summary>
    public static async Task BurnAsync(Platform platform, RunningMachine burnt, CancellationToken cancellationToken)
    {
        await platform.BurnAsync(burnt, cancellationToken);
        await Task.Delay(Gone, cancellationToken);
        await platform.ReplaceAsync(burnt.Machine, cancellationToken);
        var standby = await StandbyAsync(platform, cancellationToken);
        if (standby.Machine.Name != burnt.Machine.Name)
        {
            throw new StackException($"{burnt.Machine.Name} has not become a standby.");
        }
    }

    private static async Task<RunningMachine> FindAsync(Platform platform, string role, CancellationToken cancellationToken) => await Polling.LastAsync(
        attempts: 120, TimeSpan.FromSeconds(1),
        async () =>
        {
            foreach (var machine in platform.Tier("postgres").Where(machine => machine.IsRunning))
            {
                var (exitCode, _, _) = await machine.Shell().TryAsync([$"curl -fsS -m 2 -o /dev/null http://{machine.Machine.Address}:8008/{role}"], cancellationToken);
                if (exitCode == 0)
                {
                    return machine;
                }
            }
            return null;
        },
        found => found is not null,
        cancellationToken) ?? throw new StackException($"No machine of the database is {role}.");
}
