using Billing.Backends.EventStore;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Steps;

/// <summary>Two more databases, as docs/operations/scale.md describes it: their machines, the backends'
/// settings, and the shards.</summary>
internal static class Sharding
{
    private static readonly string[] Further = ["two", "three"];

    // Each has to know all databases before a shard is in one of them.
    private static readonly string[] Informed = ["balance-backend", "payment-backend", "monitoring"];

    /// <summary>Adds the databases, and gives each of them a third of the shards.</summary>
    /// <exception cref="StackException">A database does not hold the shards that were moved to it.</exception>
    public static async Task RunAsync(
        Platform platform, Release release, Action<string> progress, CancellationToken cancellationToken)
    {
        var topology = await platform.PlanAsync(
            release, new() { ["tiers"] = Growth.Tiers, ["further_databases"] = Further }, cancellationToken);
        await platform.GrowAsync(topology, cancellationToken);
        // The machines of the first database create the tables.
        foreach (var machine in DatabaseMachines.OfFirst(platform).Concat(Informed.SelectMany(platform.Tier)))
        {
            progress(machine.Machine.Name);
            var variables = topology[machine.Machine.Name].Environment;
            await machine.RunAsync(
                $"/opt/billing/bootstrap/configure.sh BILLING_POSTGRES='{variables["BILLING_POSTGRES"]}' "
                    + $"BILLING_HOSTS='{variables["BILLING_HOSTS"]}'", cancellationToken);
        }
        var operators = await DatabaseMachines.PrimaryAsync(platform, cancellationToken);
        var databases = DatabaseMachines.Options(
            topology[operators.Machine.Name].Environment["BILLING_POSTGRES"], "owner");
        var each = Shard.Count / (Further.Length + 1);
        foreach (var (name, index) in Further.Select((name, index) => (name, index)))
        {
            progress($"{each} shards to {name}");
            var shards = string.Join(',', Enumerable.Range(index * each, each));
            await operators.RunAsync(
                $"/opt/billing/operator/Billing.Operator shards move --shards {shards} --to {name} {databases}",
                cancellationToken);
        }
        var held = await operators.RunAsync(
            $"/opt/billing/operator/Billing.Operator shards list {databases}", cancellationToken);
        if (Array.Exists(Further, name => !held.Contains($"{name}  {each} shards", StringComparison.Ordinal)))
        {
            throw new StackException("The shards are elsewhere than they were moved to: " + held);
        }
    }
}
