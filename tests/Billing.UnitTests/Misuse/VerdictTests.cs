using Billing.Driver.Metering;
using Billing.Misuse.Watching;

namespace Billing.UnitTests.Misuse;

/// <summary>Each thing that must not be is found: the facts of a harmless attack, with one of them changed.</summary>
public sealed class VerdictTests
{
    private static readonly ServiceFacts Proxy = new("proxy-1", 600_000_000, 599_999_999, null, 0);
    private static readonly OthersFigures Served = new(
        1_000, new Dictionary<string, long>(), [new LatencyCount(10_000, 1_000)]);

    private static readonly AttackFacts Harmless = new(
        [Proxy, Proxy with { Name = "payments-1" }], new Places(1, 10, 5),
        new Places(1, 10 + RestPayments.ConnectionsMax, 5), Served, 10);

    public static TheoryData<string> Names => [.. Harmful.Keys];

    private static Dictionary<string, AttackFacts> Harmful { get; } = new()
    {
        ["proxy-1 ended with exit code 134"] = With(Proxy with { ExitCode = 134 }),
        ["the kernel ended proxy-1 for lack of memory"] = With(Proxy with { KernelKills = 1 }),
        ["proxy-1 had 600 MB resident; its unit has 600"] = With(Proxy with { Peak = 600_000_000 }),
        ["2 payments of others failed, most with Unavailable"] = Harmless with
        {
            Others = Served with { Failures = new Dictionary<string, long> { ["Unavailable"] = 2 } },
        },
        ["no payment of others was answered"] = Harmless with { Others = Served with { Answered = 0 } },
        [Held("2 places, 10 connections and 5 bytes")] = Harmless with { After = new Places(2, 10, 5) },
        [Held("1 places, 43 connections and 5 bytes")] =
            Harmless with { After = new Places(1, 11 + RestPayments.ConnectionsMax, 5) },
        [Held("1 places, 10 connections and 6 bytes")] = Harmless with { After = new Places(1, 10, 6) },
        [Held("what it does not say")] = Harmless with { After = null },
    };

    private static string Held(string after) =>
        $"the proxy holds {after} after the attack, 1 places, 10 connections and 5 bytes before it";

    [Fact]
    public void A_harmless_attack_has_no_findings()
    {
        Assert.Empty(Verdict.Harm(Harmless));
        Assert.Null(Verdict.Slowness(Harmless));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Each_harm_is_the_only_finding(string harm) => Assert.Equal([harm], Verdict.Harm(Harmful[harm]));

    [Fact]
    public void The_harm_done_to_a_backend_is_found_as_well() => Assert.Equal(
        ["payments-1 ended with exit code 1"],
        Verdict.Harm(Harmless with { Services = [Proxy, Proxy with { Name = "payments-1", ExitCode = 1 }] }));

    [Fact]
    public void Others_may_wait_twice_as_long_as_in_quiet_and_no_longer()
    {
        Assert.Null(Verdict.Slowness(With(19_900)));
        Assert.Contains("more than 2 times the 10.0 ms", Verdict.Slowness(With(20_200)), StringComparison.Ordinal);

        static AttackFacts With(long microseconds) =>
            Harmless with { Others = Served with { Latencies = [new LatencyCount(microseconds, 100)] } };
    }

    private static AttackFacts With(ServiceFacts proxy) => Harmless with { Services = [proxy] };
}
