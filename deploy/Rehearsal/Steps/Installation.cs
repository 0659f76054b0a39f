using System.Text.Json;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Steps;

/// <summary>The first start of all machines at once, as Terraform makes them; and that nobody can reach what he should not.</summary>
internal static class Installation
{
    // What the tiers' services listen at, once they are installed. Brokers listen to each other at addresses of their own.
    private static readonly (string Tier, int Port)[] Listening =
    [
        ("kafka", 9092), ("kafka", 9093), ("kafka", 9094), ("postgres", 5432), ("proxy", 5000), ("proxy", 5080),
        ("payment-backend", 5001), ("balance-backend", 5001),
        .. from tier in (string[])["kafka", "postgres", "proxy", "payment-backend", "balance-backend", "client"] select (tier, 9100),
    ];

    /// <summary>Runs the user data of all machines.</summary>
    /// <exception cref="StackException">One failed.</exception>
    public static Task RunAsync(Platform platform, CancellationToken cancellationToken)
    {
        // All at once, since they wait for each other; and none goes on waiting for one that has failed.
        var machines = platform.Topology.Machines;
        return Parallel.ForEachAsync(
            machines, new ParallelOptions { MaxDegreeOfParallelism = machines.Count, CancellationToken = cancellationToken },
            async (machine, token) => await platform.InstallAsync(platform.Topology, machine.Name, token));
    }

    /// <summary>Tries every way between machines.</summary>
    public static Task<AccessFindings> TryAccessAsync(Platform platform, CancellationToken cancellationToken) =>
        AccessProbe.RunAsync(platform.Topology, Listening, cancellationToken);

    /// <summary>Asks the monitoring host's Prometheus which machines it reads, until it reads all or a minute has passed.</summary>
    /// <returns>Machines that it reads, and machines that it cannot read.</returns>
    public static async Task<(int Up, int Down)> TargetsAsync(Platform platform, CancellationToken cancellationToken)
    {
        const int Attempts = 60;
        using var pause = new PeriodicTimer(TimeSpan.FromSeconds(1));
        var health = new List<string>();
        for (var attempt = 0; attempt < Attempts && !(health.Count > 0 && health.TrueForAll(state => state == "up")); attempt++)
        {
            await pause.WaitForNextTickAsync(cancellationToken);
            var (exitCode, answer, _) = await platform.Tier("monitoring")[0].Shell().TryAsync(
                ["curl -fsS http://127.0.0.1:9090/api/v1/targets"], cancellationToken);
            health = exitCode == 0 ? Health(answer) : [];
        }
        return (health.Count(state => state == "up"), health.Count(state => state != "up"));
    }

    private static List<string> Health(string targets)
    {
        using var json = JsonDocument.Parse(targets);
        return [.. json.RootElement.GetProperty("data").GetProperty("activeTargets").EnumerateArray().Select(target => target.GetProperty("health").GetString()!)];
    }
}
