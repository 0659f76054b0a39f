using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>A rolling upgrade: the machines get the next release one after the other, each after the previous one is
/// ready again. In the meantime, the old and the new release run side by side.</summary>
internal static class Upgrade
{
    // The first broker creates the topics, and the machines of the database the tables, that the next release has in
    // addition. Who reads comes before who writes: balance backends before payment backends, which may store new types
    // of events, and backends before proxies, which may send new kinds of requests.
    private static readonly string[] Order =
    [
        "kafka", "postgres", "monitoring", "balance-backend", "payment-backend", "proxy",
    ];

    /// <summary>Upgrades every machine.</summary>
    public static async Task RunAsync(
        Platform platform, Release next, Action<string> progress, CancellationToken cancellationToken)
    {
        await platform.OfferAsync(next, cancellationToken);
        var primary = await DatabaseMachines.PrimaryAsync(platform, cancellationToken);
        foreach (var machine in Order.SelectMany(tier => platform.Tier(tier).OrderBy(machine => machine == primary)))
        {
            progress(machine.Machine.Name);
            var upgrade =
                $"/opt/billing/bootstrap/upgrade.sh {next.Version} {next.BootstrapHash} "
                + $"file:///srv/billing/releases/{next.Version}";
            if (machine.Machine.Tier == "kafka")
            {
                await machine.RunAsync($"{upgrade}; {Rotation.InSync}", cancellationToken);
                continue;
            }
            await machine.RunAsync(upgrade, cancellationToken);
            await CheckAsync(machine, next.Version, cancellationToken);
        }
    }

    private static async Task CheckAsync(RunningMachine machine, string version, CancellationToken cancellationToken)
    {
        var program = machine.Machine.Tier switch
        {
            "proxy" =>
            "proxy",
            "monitoring" or "postgres" => "operator",
            _ => "backend"
        };
        var running = (await machine.RunAsync(
            program == "operator"
                ? "cat /opt/billing/operator/VERSION"
                : "cat $(dirname $(readlink /proc/$(systemctl show -p MainPID --value "
                    + $"billing-{program})/exe))/VERSION",
            cancellationToken)).Trim();
        if (running != version)
        {
            throw new StackException($"{machine.Machine.Name} runs release {running}, not {version}.");
        }
    }
}
