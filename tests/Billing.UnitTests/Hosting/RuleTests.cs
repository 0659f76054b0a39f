using System.Text;
using Billing.Backends;
using Billing.Client;
using Billing.Hosting;
using Billing.Proxy;

namespace Billing.UnitTests.Hosting;

/// <summary>The rules between times and limits: that each holds, and that docs/times.md lists them.</summary>
public sealed class RuleTests
{
    private const string WriteVariable = "BILLING_WRITE_TIMES";
    private const string Page = "docs/times.md";
    private const int LineMax = 120;

    // What no service can check, since it knows only its own settings.
    private static readonly Rule[] BetweenServices =
    [
        Rule.Less(
            Quantity.Of("the default of Billing:Backend:StoreUnavailableMax", new BackendOptions().StoreUnavailableMax),
            Quantity.Of("the default of Billing:Proxy:DeadlineDefault", new ProxyOptions().DeadlineDefault),
            "callers are told that the store is away before their calls time out"),
        Rule.AtMost(
            Quantity.Of("the SDK's default Deadline", new BillingClientOptions().Deadline),
            Quantity.Of("the default of Billing:Proxy:DeadlineMax", new ProxyOptions().DeadlineMax),
            "a proxy must not end a call before its caller does"),
    ];

    private static List<Rule> Constants => [.. DeclaredRules.OfConstants, .. BetweenServices];

    public static TheoryData<string> All =>
    [
        .. DeclaredRules.OfSettings.Select(one => one.Rule).Concat(Constants).Select(rule => rule.ToString()),
    ];

    [Theory]
    [MemberData(nameof(All))]
    public void A_rule_holds_for_the_defaults(string rule) =>
        Assert.True(DeclaredRules.OfSettings.Select(one => one.Rule).Concat(Constants)
            .Single(one => one.ToString() == rule).Holds, rule);

    [Fact]
    public void The_rules_are_found()
    {
        Assert.True(DeclaredRules.Settings.Count >= 10);
        Assert.True(DeclaredRules.OfSettings.Count >= 8);
        Assert.True(DeclaredRules.OfConstants.Count >= 15);
    }

    [Theory]
    [InlineData(1, true, true)]
    [InlineData(2, false, true)]
    [InlineData(3, false, false)]
    public void A_rule_is_broken_by_a_larger_value_and_a_strict_one_by_an_equal_value(
        int left, bool isLess, bool isAtMost)
    {
        Assert.Equal(isLess, Rule.Less(Quantity.Of("a", left), Quantity.Of("b", 2), "").Holds);
        Assert.Equal(
            isAtMost,
            Rule.AtMost(Quantity.Of("a", TimeSpan.FromTicks(left)), Quantity.Of("b", TimeSpan.FromTicks(2)), "").Holds);
    }

    [Fact]
    public void A_rule_is_stated_with_its_names_its_values_and_its_reason()
    {
        var rule = Rule.Less(
            Quantity.Of("a", TimeSpan.FromSeconds(90)),
            Quantity.Of("b", TimeSpan.FromMilliseconds(2.5)), "one follows the other");

        Assert.Equal("a (90 s) must be less than b (2.5 ms): one follows the other.", rule.ToString());
        Assert.Equal(
            ["0 s", "1 ms", "1.5 s", "2 min", "3 h", "31 d", "-1 s", "7"],
            new object[]
            {
                TimeSpan.Zero, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1.5),
                TimeSpan.FromMinutes(2), TimeSpan.FromHours(3),
                TimeSpan.FromDays(31), TimeSpan.FromSeconds(-1), 7,
            }.Select(Quantity.Text));
    }

    [Fact]
    public void The_page_of_times_lists_every_rule()
    {
        var page = Text();
        if (Environment.GetEnvironmentVariable(WriteVariable) is not null)
        {
            File.WriteAllText(Path.Combine(Repository.Root, Page), page);
        }

        Assert.Equal(page, File.ReadAllText(Path.Combine(Repository.Root, Page)));
    }

    private static string Text()
    {
        var text = new StringBuilder(
            """
            # Times and limits that depend on one another

            A service compares its settings when it starts. If two break a rule, it states the rule with both values,
            and ends with exit code 2. The unit tests compare constants and defaults, the deployment tests what deploy/
            states (`DeployedTimes.cs`). `RuleTests` writes this page (`BILLING_WRITE_TIMES=1`). In brackets are the
            defaults.

            ## Settings


            """);
        DeclaredRules.OfSettings.ToList().ForEach(one => Add(text, one.Rule));
        text.Append("\n## Constants and defaults\n\n");
        Constants.ForEach(rule => Add(text, rule));
        return text.ToString();
    }

    private static void Add(StringBuilder text, Rule rule)
    {
        var line = "-";
        var sentence = $"{rule.Left} {(rule.IsStrict ? '<' : '≤')} {rule.Right}: {rule.Reason}."
            .Replace("Billing:", "", StringComparison.Ordinal)
            .Replace("the default of ", "default ", StringComparison.Ordinal);
        foreach (var word in sentence.Split(' '))
        {
            if (line.Length + 1 + word.Length > LineMax)
            {
                text.Append(line).Append('\n');
                line = " ";
            }
            line += " " + word;
        }
        text.Append(line).Append('\n');
    }
}
