using System.Text.Json;
using Billing.ScenarioFiles;

namespace Billing.ScenarioTests;

public sealed class ScenarioFilesTests
{
    private static readonly TimeSpan During = TimeSpan.FromSeconds(90);

    private static readonly LoadShape[] Shapes =
        [
            new LoadShape.Open(5, During), new LoadShape.Closed(6, During),
            new LoadShape.Ramp(7, 8, During), new LoadShape.Burst(9),
        ];

    [Fact]
    public void A_specification_is_unchanged_after_serialization() => Assert.All(Shapes, shape =>
    {
        var spec = new ScenarioSpec
        {
            Scenario = "mixed",
            Shape = shape,
            PaymentPercent = 80,
            Following = Following.Capture,
            Clients = 3,
            WarmUp = TimeSpan.FromMilliseconds(500),
            Accounts = 7,
            Proxies = ["http://localhost:5000", "http://localhost:5001"],
            Journal = "load.csv",
            ReportFolder = "reports",
        };

        var read = JsonSerializer.Deserialize(
            JsonSerializer.SerializeToUtf8Bytes(spec, ScenarioJson.Default.ScenarioSpec),
            ScenarioJson.Default.ScenarioSpec)!;

        Assert.Equal(spec.Proxies, read.Proxies);
        Assert.Equal(spec, read with { Proxies = spec.Proxies });
    });

    [Fact]
    public void A_ramp_is_planned_to_last_a_second_longer_and_a_burst_no_time() => Assert.Equal(
        [During, During, During + TimeSpan.FromSeconds(1), TimeSpan.Zero], Shapes.Select(s => s.Planned));
}
