using System.CommandLine;
using Billing.Cli.Commands.Measurements;
using Billing.Measuring.Scenarios;
using Billing.ScenarioFiles;

namespace Billing.UnitTests.Cli.Commands;

public sealed class LoadFlagsTests
{
    private static readonly LoadShape Shape = new LoadShape.Open(1, TimeSpan.FromSeconds(1));

    [Fact]
    public void Every_option_is_read()
    {
        var plan = Plan(
            "--warm-up 1m --accounts 7 --out out --max-error-percent 0.5 --min-rps 90 --proxies 2 --kafka embedded "
            + "--payment-backends 4");

        Assert.Equal(TimeSpan.FromMinutes(1), plan.WarmUp);
        Assert.Equal(7, plan.Accounts);
        Assert.Equal("out", plan.Subject.Out);
        Assert.Equal([new Threshold("--max-error-percent", 0.5), new Threshold("--min-rps", 90)], plan.Thresholds);
        Assert.Equal(
            (2, 4, "embedded"),
            (plan.Subject.Stack.Proxies, plan.Subject.Stack.PaymentBackends, plan.Subject.Stack.Kafka));
        Assert.Empty(plan.Subject.Targets);
    }

    [Fact]
    public void Without_options_a_stack_is_started_and_one_percent_of_the_calls_may_fail()
    {
        var plan = Plan("");

        Assert.Equal(3, plan.Subject.Stack.Proxies);
        Assert.Empty(plan.Subject.Targets);
        Assert.Equal([new Threshold("--max-error-percent", 1)], plan.Thresholds);
        Assert.StartsWith(Path.Combine("results", "load-payments-"), plan.Subject.Out, StringComparison.Ordinal);
    }

    [Fact]
    public void Target_addresses_are_used_instead_of_a_stack() =>
        Assert.Equal(["http://a:1", "https://b:2"], Plan("--targets http://a:1,https://b:2").Subject.Targets);

    [Theory]
    [InlineData("0", 0)]
    [InlineData("30", 30)]
    [InlineData("1500ms", 1.5)]
    [InlineData("1.5s", 1.5)]
    [InlineData("5m", 300)]
    [InlineData("24h", 86_400)]
    public void A_duration_without_a_unit_is_in_seconds(string text, double seconds) =>
        Assert.Equal(seconds, Plan($"--warm-up {text}").WarmUp.TotalSeconds);

    private static LoadPlan Plan(string line)
    {
        var flags = new LoadFlags();
        var command = new Command("payments");
        flags.AddTo(command);
        var parsed = command.Parse(line);
        Assert.Empty(parsed.Errors);
        return flags.Read(parsed, "payments", Shape, TimeProvider.System);
    }
}
