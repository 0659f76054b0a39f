using System.Globalization;
using System.Text.RegularExpressions;
using Billing.Backends;
using Billing.Backends.EventStore;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Proxy;
using Billing.Webhooks;

namespace Billing.DeploymentTests;

/// <summary>The times that the files in deploy/ state, compared with each other and with those of the
/// services.</summary>
public sealed class DeployedTimes
{
    private const string Kafka = "bootstrap/kafka/server.properties";
    private const string Patroni = "bootstrap/tiers/postgres.sh";
    private const string Compose = "containers/compose.yaml";
    private const string Balancer = "terraform/modules/load_balancer/main.tf";

    // Where each time is stated: the number, and how long one of its unit is.
    private static readonly (string Name, string File, string Pattern, TimeSpan Unit)[] Stated =
    [
        .. new[] { "proxy", "backend", "webhooks" }.Select(
            service =>
                ($"stop of {service}", $"bootstrap/units/billing-{service}.service",
                    "TimeoutStopSec=(\\d+)", Seconds(1))),
        ("container stop", Compose, @"stop_grace_period: (\d+)s", Seconds(1)),
        ("container stop of webhooks", "containers/webhooks.yaml", @"stop_grace_period: (\d+)s", Seconds(1)),
        ("deregistration", Balancer, @"deregistration_delay = (\d+)", Seconds(1)),
        ("balancer's interval", Balancer, @" interval +?= (\d+)", Seconds(1)),
        ("balancer's timeout", Balancer, @" timeout +?= (\d+)", Seconds(1)),
        ("shortest session", Kafka, @"group\.min\.session\.timeout\.ms=(\d+)", Seconds(0.001)),
        ("broker's heartbeat", Kafka, @"broker\.heartbeat\.interval\.ms=(\d+)", Seconds(0.001)),
        ("broker's session", Kafka, @"broker\.session\.timeout\.ms=(\d+)", Seconds(0.001)),
        ("replica's lag", Kafka, @"replica\.lag\.time\.max\.ms=(\d+)", Seconds(0.001)),
        ("log's retention", Kafka, @"log\.retention\.hours=(\d+)", Seconds(3600)),
        ("primary's lock", Patroni, @" ttl: (\d+)", Seconds(1)),
        ("renewal", Patroni, @"loop_wait: (\d+)", Seconds(1)),
        ("renewal's attempt", Patroni, @"retry_timeout: (\d+)", Seconds(1)),
        ("standby's silence", Patroni, @"wal_sender_timeout: (\d+)s", Seconds(1)),
        ("segment", "bootstrap/postgres/postgresql.conf", @"archive_timeout = (\d+)", Seconds(1)),
        ("wait for a segment", Patroni, @"archive-timeout=(\d+)", Seconds(1)),
    ];

    public static TheoryData<string> Names => [.. Stated.Select(stated => stated.Name)];

    [Fact]
    public void Every_rule_holds() => Assert.DoesNotContain(Rules(Read), rule => !rule.Holds);

    [Theory]
    [MemberData(nameof(Names))]
    public void A_time_that_is_far_off_breaks_a_rule(string name)
    {
        var (_, changed, pattern, _) = Stated.Single(stated => stated.Name == name);
        Assert.Contains([.. RulesWith("0"), .. RulesWith("10000000")], (Rule rule) => !rule.Holds);

        List<Rule> RulesWith(string number) => Rules(file => file == changed ? With(number) : Read(file));

        string With(string number) => Regex.Replace(
            Read(changed), pattern,
            match => match.Value.Replace(match.Groups[1].Value, number, StringComparison.Ordinal));
    }

    private static List<Rule> Rules(Func<string, string> read)
    {
        var (proxy, webhooks) = (new ProxyOptions(), new WebhookOptions());
        var proxyStop = Quantity.Of("a proxy's stop", proxy.DrainTimeout + StopTimes.Ending);
        // The rest of its replies and events is sent after the host has stopped.
        var backendStop = Quantity.Of("a backend's stop", StopTimes.Stopping + (KafkaTimes.Flush * 2));
        var webhooksStop = Quantity.Of("the stop of webhooks", webhooks.StopMax);
        const string NotKilled = "a service that stops is not killed before it has ended";
        const string Healthy = "the load balancer sends no connections to a proxy that has ended";
        var storeAway = Quantity.Of(
            "the default of Billing:Backend:StoreUnavailableMax", new BackendOptions().StoreUnavailableMax);
        return
        [
            Rule.Less(proxyStop, Of("stop of proxy"), NotKilled),
            Rule.Less(backendStop, Of("stop of backend"), NotKilled),
            Rule.Less(webhooksStop, Of("stop of webhooks"), NotKilled),
            Rule.Less(proxyStop, Of("container stop"), NotKilled),
            Rule.Less(backendStop, Of("container stop"), NotKilled),
            Rule.Less(webhooksStop, Of("container stop of webhooks"), NotKilled),
            Rule.AtMost(
                Quantity.Of("the default of Billing:Proxy:DrainTimeout", proxy.DrainTimeout), Of("deregistration"),
                "calls that a proxy still answers reach it"),
            Rule.AtMost(
                Of("balancer's interval", 2),
                Quantity.Of("the default of Billing:Proxy:DrainTimeout", proxy.DrainTimeout), Healthy),
            Rule.Less(Of("balancer's timeout"), Of("balancer's interval"), "a check ends before the next one"),
            Rule.AtMost(
                Of("shortest session"),
                Quantity.Of("the default of Billing:Kafka:SessionTimeout", new KafkaOptions().SessionTimeout),
                "brokers refuse members with shorter ones"),
            Rule.AtMost(
                Of("broker's heartbeat", 3), Of("broker's session"),
                "a broker that lives is not taken for a lost one"),
            Rule.Less(
                Of("broker's session"), Quantity.Of("a request to a broker", KafkaTimes.Request),
                "a request outlasts the loss of a broker"),
            Rule.Less(
                Of("replica's lag"), Quantity.Of("the sending of a reply", KafkaTimes.Reply),
                "a record outlasts the loss of a replica"),
            Rule.AtMost(
                Quantity.Of("the shortest retention of commands", KafkaTimes.RetentionMin), Of("log's retention"),
                "services refuse to start"),
            Rule.Less(
                Of("log's retention"), Quantity.Of("the retention of dead letters", KafkaTimes.DeadLetterRetention),
                "dead letters outlast the others"),
            Rule.AtMost(
                Of("renewal").Plus(Of("renewal's attempt", 2)), Of("primary's lock"),
                "Patroni renews the lock in time when one attempt fails"),
            Rule.Less(
                Of("standby's silence"), Of("primary's lock"),
                "a standby that is lost is noticed while its primary still has the lock"),
            Rule.Less(
                Of("primary's lock"), Quantity.Of("a look for the primary", StoreTimes.PrimaryLook),
                "a look lasts until a standby may have become the primary"),
            Rule.Less(
                Of("primary's lock").Plus(Of("renewal")).Plus(Of("renewal's attempt")), storeAway,
                "callers are told UNAVAILABLE only when no standby took over"),
            Rule.Less(
                Of("segment"), Of("wait for a segment"),
                "a backup waits for the last segment, which may be closed that late"),
        ];

        Quantity Of(string name, int times = 1)
        {
            var (_, file, pattern, unit) = Stated.Single(stated => stated.Name == name);
            var found = Assert.Single(Regex.Matches(read(file), pattern));
            var time = unit * times * int.Parse(found.Groups[1].ValueSpan, CultureInfo.InvariantCulture);
            return Quantity.Of(
                times == 1 ? $"{file}: {found.Value.Trim()}" : $"{file}: {times} times {found.Value.Trim()}", time);
        }
    }

    private static TimeSpan Seconds(double seconds) => TimeSpan.FromSeconds(seconds);

    private static string Read(string file) => File.ReadAllText(Path.Combine(Repository.Root, "deploy", file));
}

/// <summary>Sums of times.</summary>
internal static class Sums
{
    public static Quantity Plus(this Quantity one, Quantity other) =>
        one with { Name = $"{one.Name} + {other.Name}", Value = one.Value + other.Value };
}
