using System.Globalization;
using Billing.Messaging;

namespace Billing.DeploymentTests.Terraform;

/// <summary>What the brokers keep fits on the disks that Terraform asks for, as deploy/README.md adds it up.</summary>
public sealed class BrokerDisks
{
    private const double Gibibyte = 1L << 30;

    // Everything on a broker's disk besides requests and events: the system, the programs and the journal, dead
    // letters, replies, offsets, metadata.
    private const double OtherGibibytes = 6;

    // With less free, an alert fires.
    private const double Usable = 0.8;

    private static readonly Dictionary<string, string> Settings = Repository.Lines(
        "deploy/bootstrap/kafka/server.properties")
        .Where(line => line.Contains('=', StringComparison.Ordinal) && !line.StartsWith('#'))
        .ToDictionary(
            line => line[..line.IndexOf('=', StringComparison.Ordinal)],
            line => line[(line.IndexOf('=', StringComparison.Ordinal) + 1)..]);

    [Fact]
    public async Task Topics_at_their_largest_leave_a_fifth_of_the_default_disks_free()
    {
        await using var copy = TerraformCopy.Make();

        var broker = (await copy.PlanAsync(TopologyModule.Module)).Output("hosts").EnumerateArray()
            .First(host => host.GetProperty("tier").GetString() == "kafka");

        var partitions = int.Parse(
            broker.GetProperty("environment").GetProperty("BILLING_PARTITIONS").GetString()!,
            CultureInfo.InvariantCulture);
        Assert.InRange(Needed(partitions, brokers: 3), 1, broker.GetProperty("volume_gib").GetInt32());
    }

    [Theory]
    [InlineData(12, 3)]
    [InlineData(40, 5)]
    public async Task Brokers_with_too_small_disks_for_their_partitions_are_rejected(int partitions, int brokers)
    {
        await using var copy = TerraformCopy.Make();
        var needed = Needed(partitions, brokers);

        var enough = await copy.TryPlanAsync(TopologyModule.Module, Variables(needed));
        var tooSmall = await copy.TryPlanAsync(TopologyModule.Module, Variables(needed - 1));

        Assert.Equal(0, enough.ExitCode);
        Assert.NotEqual(0, tooSmall.ExitCode);
        Assert.Contains(
            string.Create(
                CultureInfo.InvariantCulture,
                $"tiers: kafka's volume_gib must be at least {needed} for {partitions} partitions"),
            tooSmall.Errors.ReplaceLineEndings(" "), StringComparison.Ordinal);

        string[] Variables(int size) =>
        [
            string.Create(CultureInfo.InvariantCulture, $"tiers={{kafka={{count={brokers},volume_gib={size}}}}}"),
            string.Create(CultureInfo.InvariantCulture, $"partitions={partitions}"),
        ];
    }

    // A partition is at its largest just before its oldest segment is deleted.
    private static int Needed(int partitions, int brokers)
    {
        const int Replicas = 3;
        var topics = Topics.AllRequests.Count + 1;
        var partition = (Setting("log.retention.bytes") + Setting("log.segment.bytes")) / Gibibyte;
        return (int)Math.Ceiling(((topics * partitions * Replicas * partition / brokers) + OtherGibibytes) / Usable);
    }

    private static long Setting(string name) => long.Parse(Settings[name], CultureInfo.InvariantCulture);
}
