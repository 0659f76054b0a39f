using Billing.Operator.Doctor;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Proxy.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Operator.Doctor;

/// <summary>What <c>./billing doctor</c> finds out by asking proxies, backends and Prometheus.</summary>
public sealed class ProxyChecksTests
{
    private static readonly TimeSpan CertificateLifetime = TimeSpan.FromDays(30);

    private static readonly Dictionary<string, string?> WithMetrics =
        new() { ["Billing:Telemetry:Prometheus"] = "true" };

    [Theory]
    [InlineData("http://localhost:5000", false)]
    [InlineData("127.0.0.1:9092", false)]
    [InlineData("http://10.0.0.1:5000", true)]
    [InlineData("kafka.example:9092", true)]
    public void What_other_machines_can_reach_is_serious(string address, bool isSerious)
    {
        var finding = Finding.At(address, "has no TLS", "Billing:Tls:CertificateFile");

        Assert.Equal(
            $"{(isSerious ? "serious" : "warning")}  {address} has no TLS  Billing:Tls:CertificateFile",
            finding.ToString());
    }

    [Fact]
    public async Task A_proxy_without_authentication_and_TLS_is_open()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());

        var findings = await ProxyChecks.OfCallersAsync(proxy.Address, TimeProvider.System);

        Assert.Equal(
            ["Billing:Auth:JwksFile, Authority, Certificates", "Billing:Tls:CertificateFile"],
            findings.Select(finding => finding.Setting));
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public async Task Nothing_is_found_at_a_proxy_that_requires_tokens_or_certificates(bool tokens, bool certificates)
    {
        await using var proxy = await SecureProxy.StartAsync(
            new(SecureProxy.Listed("shop"))
            {
                ["Billing:Tls:RequireClientCertificate"] = certificates ? "true" : "false",
            },
            tokens: tokens);

        Assert.Empty(await ProxyChecks.OfCallersAsync(proxy.Grpc.ToString(), TimeProvider.System));
    }

    [Theory]
    [InlineData(-13, false)]
    [InlineData(1, true)]
    public async Task A_certificate_is_to_be_renewed_before_it_expires(int daysAfter, bool isSerious)
    {
        await using var proxy = await SecureProxy.StartAsync();
        var time = new ManualTime();
        time.Set(
            TimeProvider.System.GetUtcNow() + CertificateLifetime + TimeSpan.FromDays(daysAfter) - time.GetUtcNow());

        var found = Assert.Single(await ProxyChecks.OfCallersAsync(proxy.Grpc.ToString(), time));

        Assert.Equal((isSerious, "Billing:Tls:CertificateFile"), (found.IsSerious, found.Setting));
    }

    [Fact]
    public async Task What_does_not_answer_is_serious()
    {
        string address;
        await using (var proxy = await ProxyHost.StartAsync(new FakeBackend()))
        {
            address = proxy.Address;
        }

        Assert.Contains(
            await ProxyChecks.OfCallersAsync(address, TimeProvider.System),
            finding => finding is { IsSerious: true, Setting: "Urls" });
        Assert.True(Assert.Single(await ProxyChecks.OfOperatorsAsync([address])).IsSerious);
        Assert.True(
            Assert.Single(await MonitoringChecks.OfAsync(address, TestContext.Current.CancellationToken)).IsSerious);
    }

    [Theory]
    [InlineData("Billing:Limits:RequestsPerSecond", "0", "Billing:Limits:RequestsPerSecond")]
    [InlineData("Billing:Telemetry:Prometheus", "false", "Billing:Telemetry:Prometheus")]
    public async Task A_proxy_without_a_limit_for_callers_or_without_metrics_is_found(
        string setting, string value, string found)
    {
        await using var proxy = await ProxyHost.StartAsync(
            new FakeBackend(), withRest: true,
            settings: new Dictionary<string, string?>(WithMetrics) { [setting] = value });

        // A proxy shows the metrics of all in this process, those of other tests too.
        Assert.Contains(
            found, (await ProxyChecks.OfOperatorsAsync([proxy.Rest.ToString()])).Select(finding => finding.Setting));
    }

    /// <summary>Without a real proxy: it would show the limits of all proxies in this process,
    /// those of other tests too.</summary>
    [Theory]
    [InlineData("billing_proxy_caller_rate_limit 50 1769860800000", 0)]
    [InlineData("billing_proxy_caller_rate_limit{otel_scope_name=\"Billing.Proxy\"} 10", 0)]
    [InlineData("billing_proxy_caller_rate_limit 0 1769860800000", 1)]
    [InlineData("", 0)]
    public async Task Only_a_limit_of_zero_is_found(string metrics, int findings)
    {
        await using var service = await AnsweringAsync(("/health/ready", 200, "ready"), ("/metrics", 200, metrics));

        Assert.Equal(findings, (await ProxyChecks.OfOperatorsAsync([service.Urls.First()])).Count);
    }

    [Theory]
    [InlineData("86400", null)]
    [InlineData("21600", null)]
    [InlineData(
        "21599.9",
        "warning  {0} has a list of revoked client certificates that is out of date in 06:00:00  "
            + "Billing:Tls:ClientCrlFile")]
    [InlineData(
        "-60.5",
        "serious  {0} has a list of revoked client certificates that is out of date: "
            + "nobody can connect with one  Billing:Tls:ClientCrlFile")]
    public async Task A_list_of_revoked_certificates_whose_next_one_is_due_is_found(string seconds, string? found)
    {
        var metrics = $$"""
            billing_tls_validity_seconds{otel_scope_name="Billing.Proxy",billing_tls_file="certificate"} 5 1769860800000
            billing_tls_validity_seconds{scope="Billing",billing_tls_file="revocation_list"} {{seconds}} 1769860800000
            """;
        await using var service = await AnsweringAsync(("/health/ready", 200, "ready"), ("/metrics", 200, metrics));
        var address = service.Urls.First();

        Assert.Equal(
            found is null ? [] : [found.Replace("{0}", address, StringComparison.Ordinal)],
            (await ProxyChecks.OfOperatorsAsync([address])).Select(finding => finding.ToString()));
    }

    [Fact]
    public async Task Receivers_that_are_late_or_get_no_more_events_of_an_account_are_found_once()
    {
        const string Metrics = """
            billing_webhooks_oldest_age_seconds{otel_scope_name="Billing",billing_receiver="shop"} 930.4 1769860800000
            billing_webhooks_oldest_age_seconds{billing_receiver="other"} 890 1769860800000
            billing_webhooks_parked_accounts{billing_receiver="shop"} 3 1769860800000
            billing_webhooks_parked_accounts{billing_receiver="other"} 0 1769860800000
            """;
        await using var one = await AnsweringAsync(("/health/ready", 200, "ready"), ("/metrics", 200, Metrics));
        await using var two = await AnsweringAsync(("/health/ready", 200, "ready"), ("/metrics", 200, Metrics));

        Assert.Equal(
            [
                "warning  the receiver shop has not taken an event for 00:15:30  ./billing webhooks list",
                "warning  the receiver shop gets no events of 3 accounts: they are parked  ./billing webhooks list",
            ],
            (await ProxyChecks.OfOperatorsAsync([one.Urls.First(), two.Urls.First()]))
                .Select(finding => finding.ToString()));
    }

    [Fact]
    public async Task A_service_that_is_not_ready_and_one_of_another_release_are_found()
    {
        await using var one = await AnsweringAsync(
            ("/health/ready", 200, "ready"), ("/metrics", 200, Release("2.0.0")));
        await using var two = await AnsweringAsync(
            ("/health/ready", 200, "ready"), ("/metrics", 200, Release("2.0.0")));
        await using var old = await AnsweringAsync(
            ("/health/ready", 503, "not ready: planted"), ("/metrics", 200, Release("1.9.0")));

        var found = await ProxyChecks.OfOperatorsAsync([old.Urls.First(), one.Urls.First(), two.Urls.First()]);

        Assert.Equal(
            [
                $"serious  {old.Urls.First()} is not ready: planted  its log says why",
                $"warning  {old.Urls.First()} runs 1.9.0, most others 2.0.0  upgrade.sh VERSION SHA256",
            ],
            found.Select(finding => finding.ToString()));
    }

    [Fact]
    public async Task Services_tell_their_release()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend(), withRest: true, settings: WithMetrics);
        await using var other = await AnsweringAsync(
            ("/health/ready", 200, "ready"), ("/metrics", 200, Release("0.0.1")));

        Assert.Contains("upgrade.sh VERSION SHA256", (await ProxyChecks.OfOperatorsAsync(
            [proxy.Rest.ToString(), other.Urls.First()])).Select(finding => finding.Setting));
    }

    [Fact]
    public async Task A_platform_without_Prometheus_or_alerts_and_an_alert_that_fires_are_found()
    {
        const string Group = """{"data":{"groups":[{"name":"billing"}]}}""";
        const string Alerts = """
            {"data":{"alerts":[
              {"state":"pending","labels":{"alertname":"A"},"annotations":{"summary":"s","action":"a"}},
              {"state":"firing","labels":{"alertname":"BillingBackupMissing"},
               "annotations":{"summary":"there was no backup","action":"journalctl -u billing-backup"}}]}}
            """;
        await using var empty = await AnsweringAsync(
            ("/api/v1/rules", 200, """{"data":{"groups":[]}}"""),
            ("/api/v1/alerts", 200, """{"data":{"alerts":[]}}"""));
        await using var firing = await AnsweringAsync(("/api/v1/rules", 200, Group), ("/api/v1/alerts", 200, Alerts));

        Assert.Equal("./billing up --monitoring; --prometheus", await SettingAsync(null));
        Assert.Equal("deploy/monitoring/prometheus/rules", await SettingAsync(empty.Urls.First()));
        Assert.Equal(
            "serious  BillingBackupMissing: there was no backup  journalctl -u billing-backup",
            Assert.Single(await MonitoringChecks.OfAsync(firing.Urls.First(), TestContext.Current.CancellationToken))
                .ToString());
    }

    private static async Task<string> SettingAsync(string? prometheus) =>
        Assert.Single(await MonitoringChecks.OfAsync(prometheus, TestContext.Current.CancellationToken)).Setting;

    private static string Release(string version) =>
        $"target_info{{service_name=\"billing-backend\",service_version=\"{version}\"}} 1\n";

    private static async Task<WebApplication> AnsweringAsync(params (string Path, int Status, string Text)[] answers)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        var app = builder.Build();
        foreach (var (path, status, text) in answers)
        {
            app.MapGet(path, () => Results.Text(
                text, path.StartsWith("/api", StringComparison.Ordinal) ? "application/json" : "text/plain",
                statusCode: status));
        }
        app.Urls.Add("http://127.0.0.1:0");
        await app.StartAsync();
        return app;
    }
}
