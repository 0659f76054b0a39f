using Billing.Driver;
using Billing.Measuring.Loads;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The load-generating clients, each on its machine.</summary>
internal static class ClientMachines
{
    /// <summary>Starts the clients.</summary>
    /// <param name="site">The site, which has the folder for their journals and results.</param>
    /// <param name="machines">The client machines.</param>
    /// <param name="name">The name of the run and its files.</param>
    /// <param name="load">The load of each client; its addresses, credentials and files are set here, and its seed
    /// together with the machine's number.</param>
    public static async Task<RunningLoad> StartAsync(
        Site site, IReadOnlyList<RunningMachine> machines, string name, LoadSpec load)
    {
        var workers = new List<WorkerProcess>();
        foreach (var (machine, number) in machines.Select((machine, index) => (machine, index + 1)))
        {
            workers.Add(await StartAsync(site, machine, $"{name}-{number}", load with { Seed = load.Seed + number }));
        }
        return new RunningLoad(workers);
    }

    private static async Task<WorkerProcess> StartAsync(Site site, RunningMachine machine, string name, LoadSpec load)
    {
        const string Shared = "/srv/billing/shared";
        await CallerAccess.GiveAsync(site, machine, "billing", "payments:write");
        await File.WriteAllBytesAsync(
            Path.Combine(site.Shared, name + ".load.json"),
            WorkerProcess.BytesOf(load with
            {
                Addresses = machine.Machine.Proxies.Split(','),
                CaFile = CallerAccess.CaFile,
                TokenFile = CallerAccess.TokenFile,
                Journal = $"{Shared}/{name}.csv",
            }));
        var start = machine.Starting(
            "setpriv", "--reuid=billing", "--regid=billing", "--clear-groups",
            "/opt/billing/client/Billing.Driver", WorkerProcess.Command,
            $"{Shared}/{name}.load.json", $"{Shared}/{name}.json");
        return WorkerProcess.Start(start, () => File.ReadAllBytesAsync(Path.Combine(site.Shared, name + ".json")));
    }
}
