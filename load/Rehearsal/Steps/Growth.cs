using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>Adds a backend, a broker and partitions while the platform runs.</summary>
internal static class Growth
{
    /// <summary>How many machines the tiers have afterwards, as the topology's variable.</summary>
    public static readonly Dictionary<string, object> Tiers =
        new()
        {
            ["payment-backend"] = new { count = 4 },
            ["kafka"] = new { count = 4 },
            ["proxy"] = new { count = 4 },
        };

    private const int Partitions = 4;
    private const string Group = "billing-payments";

    /// <summary>Adds a proxy, a payment backend and a broker, then a partition for the backend, and distributes all
    /// topics over the brokers again.</summary>
    /// <returns>The number of members in the payment backends' consumer group, and the number of these with
    /// partitions.</returns>
    public static async Task<(int Members, int Working)> RunAsync(
        Platform platform, Release release, CancellationToken cancellationToken)
    {
        var topology = await platform.PlanAsync(release, new() { ["tiers"] = Tiers }, cancellationToken);
        var broker = platform["kafka-1"];
        await platform.MakeSecretsAsync(cancellationToken, "--proxies", $"{topology.Tier("proxy").Count()}");
        var grown = platform.GrowAsync(topology, cancellationToken);
        await AdmitProxiesAsync(platform, topology, cancellationToken);
        await grown;
        foreach (var topic in Topics.AllPayments)
        {
            // On a slow machine the tool repeats a request that the brokers have carried out, and is told so.
            await broker.RunAsync(
                $"printed=$(billing-kafka topics --alter --topic {topic} --partitions {Partitions} 2>&1) || grep -q "
                    + $"'already has {Partitions} partition' <<<\"$printed\" || {{ echo \"$printed\"; exit 1; }}",
                cancellationToken);
        }
        await broker.RunAsync("billing-kafka spread 1,2,3,4", cancellationToken);
        var described = await broker.RunAsync(
            "billing-kafka topics --describe --topic billing.events", cancellationToken);
        if (!described.Split('\n').Any(HasReplicaOnNewBroker))
        {
            throw new StackException("The new broker has no replica of billing.events: " + described);
        }
        return await MembersAsync(platform, cancellationToken);
    }

    // A proxy that is added needs its account on the brokers and its rights, for which its own start waits.
    private static async Task AdmitProxiesAsync(
        Platform platform, Topology topology, CancellationToken cancellationToken)
    {
        var hosts = topology["kafka-1"].Environment["BILLING_HOSTS"];
        await platform["kafka-1"].RunAsync(
            $"/opt/billing/bootstrap/configure.sh BILLING_HOSTS='{hosts}' && billing-kafka accounts",
            cancellationToken);
        await platform.Tier("monitoring")[0].RunAsync(
            $"/opt/billing/bootstrap/configure.sh BILLING_HOSTS='{hosts}'", cancellationToken);
    }

    private static bool HasReplicaOnNewBroker(string line) =>
        line.Split("Replicas:") is [_, var rest, ..]
        && rest.Split('\t')[0].Split(',').Any(replica => replica.Trim() == "4");

    // Once every payment backend has partitions, or after a minute.
    private static Task<(int Members, int Working)> MembersAsync(
        Platform platform, CancellationToken cancellationToken) => Poll.LastAsync(
        async () =>
        {
            var printed = await platform["kafka-1"].RunAsync(
                "billing-kafka consumer-groups --describe --members --group " + Group, cancellationToken);
            // GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS
            var rows = printed.Split('\n')
                .Select(line => line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries))
                .Where(words => words is [Group, _, _, _, _, ..]).ToList();
            return (Members: rows.Count, Working: rows.Count(words => words[4] != "0"));
        },
        state => state.Working >= platform.Tier("payment-backend").Count,
        TimeSpan.FromMinutes(1), TimeSpan.FromSeconds(2), cancellationToken);
}
