using System.Text.Json;
using Billing.LoadClient;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The load-generating clients, each on its machine: they warm up separately and start the measurement together.
/// </summary>
internal sealed class Fleet : IAsyncDisposable
{
    private readonly List<(ControlledProcess Process, string Report)> _clients;

    private Fleet(List<(ControlledProcess, string)> clients) => _clients = clients;

    /// <summary>Number of requests answered or failed so far.</summary>
    public int Done => _clients.Sum(client => client.Process.Done);

    /// <param name="site">The site, which has the folder for their journals and reports.</param>
    /// <param name="seed">Determines the accounts and amounts, together with the machine's number.</param>
    public static Fleet Start(Site site, IReadOnlyList<RunningMachine> machines, string name, int seed, params string[] flags) => new(
        [.. machines.Select((machine, index) => Start(site, machine, $"{name}-{index + 1}", seed + index, flags))]);

    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_clients.Select(client => client.Process.WaitUntilReadyAsync(cancellationToken)));

    /// <summary>Starts the measurement on all clients, and waits for their results.</summary>
    public async Task<IReadOnlyList<LoadResult>> RunAsync(CancellationToken cancellationToken)
    {
        await Task.WhenAll(_clients.Select(client => client.Process.RunAsync(cancellationToken)));
        return await Task.WhenAll(_clients.Select(client => ReadAsync(client.Report, cancellationToken)));
    }

    /// <summary>Stops clients that send at a rate.</summary>
    public void StopSending() => _clients.ForEach(client => client.Process.EndInput());

    public async ValueTask DisposeAsync()
    {
        foreach (var (process, _) in _clients)
        {
            await process.DisposeAsync();
        }
    }

    private static (ControlledProcess, string) Start(Site site, RunningMachine machine, string name, int seed, string[] flags)
    {
        const string Shared = "/srv/billing/shared";
        var start = machine.Starting(
            [
                "setpriv", "--reuid=billing", "--regid=billing", "--clear-groups",
                "/opt/billing/client/Billing.LoadClient", "--proxies", machine.Machine.Proxies, "--seed", $"{seed}",
                "--journal", $"{Shared}/{name}.csv", "--report", $"{Shared}/{name}.json", "--wait-for-go", .. flags,
            ]);
        return (ControlledProcess.Start("The client on " + machine.Machine.Name, start), Path.Combine(site.Shared, name + ".json"));
    }

    private static async Task<LoadResult> ReadAsync(string report, CancellationToken cancellationToken)
    {
        await using var file = File.OpenRead(report);
        return (await JsonSerializer.DeserializeAsync(file, LoadJson.Default.LoadResult, cancellationToken))!;
    }
}
