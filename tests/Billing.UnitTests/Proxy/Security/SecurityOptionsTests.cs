using Billing.LocalStack.Processes;
using Billing.Proxy.Hosting;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Invalid settings are reported by name.</summary>
public sealed class SecurityOptionsTests : IDisposable
{
    private readonly string _file = Path.GetTempFileName();

    public void Dispose() => File.Delete(_file);

    [Theory]
    [InlineData("http://localhost:5000")]
    [InlineData("http://127.0.0.1:5000;http://[::1]:5000")]
    [InlineData("http://127.9.9.9:5000")]
    [InlineData("http://unix:/run/billing.sock")]
    [InlineData(null)]
    public void A_proxy_without_security_may_listen_on_loopback_addresses(string? urls) =>
        Assert.Empty(ValidationErrors(("urls", urls)));

    [Theory]
    [InlineData("urls", "http://0.0.0.0:5000", "Urls: 'http://0.0.0.0:5000'")]
    [InlineData("urls", "http://localhost:5000;http://*:5001", "Urls: 'http://*:5001'")]
    [InlineData("urls", "http://billing.example:5000", "Urls: 'http://billing.example:5000'")]
    [InlineData("urls", "https://0.0.0.0:5000", "Urls: 'https://0.0.0.0:5000'")]
    [InlineData("http_ports", "8080", "http_ports: 'http://*:8080'")]
    [InlineData("Kestrel:Endpoints:Extra:Url", "http://+:6000", "Kestrel:Endpoints:Extra:Url: 'http://+:6000'")]
    [InlineData("Billing:Rest:Url", "http://[::]:5080", "Billing:Rest:Url: 'http://[::]:5080'")]
    [InlineData("Billing:Admin:Url", "http://10.0.0.1:5090", "Billing:Admin:Url: 'http://10.0.0.1:5090'")]
    public void A_reachable_address_needs_security_or_the_setting_Insecure(string setting, string url, string expected)
    {
        Assert.StartsWith(expected, Assert.Single(ValidationErrors((setting, url))), StringComparison.Ordinal);
        Assert.Empty(ValidationErrors((setting, url), ("Billing:Insecure", "true")));
    }

    [Theory]
    [InlineData("0.0.0.0", true)]
    [InlineData("127.0.0.1", false)]
    public async Task A_proxy_that_other_machines_reach_without_security_says_so_when_it_starts(
        string address, bool isOpen)
    {
        using var ports = new FreePorts();
        using var logs = new FakeLoggerProvider();
        var url = $"http://{address}:{ports.Take()}";
        var settings = new Dictionary<string, string?> { ["urls"] = url, ["Billing:Insecure"] = "true" };

        await using var proxy = await ProxyHost.StartAsync(new FakeBackend(), settings: settings, logs: logs);

        var lines = logs.Collector.GetSnapshot()
            .Where(line => line.Category == SecurityLog.Category && line.Level == LogLevel.Warning);
        Assert.Equal(
            isOpen
                ?
                [
                    $"INSECURE, as Billing:Insecure allows: Urls: '{url}' may be reached from other machines, and "
                        + "the proxy has no TLS and does not authenticate its callers. Whoever reaches it may do "
                        + "everything",
                ]
                : [],
            lines.Select(line => line.Message));
    }

    [Fact]
    public void Tokens_from_other_machines_need_TLS()
    {
        Assert.Contains("tokens without TLS", Assert.Single(Exposure.ValidationErrors(
            Configuration(("urls", "http://0.0.0.0:5000")), knowsCallers: true)), StringComparison.Ordinal);
        Assert.Empty(Exposure.ValidationErrors(Configuration(("urls", "https://0.0.0.0:5000")), knowsCallers: true));
    }

    [Fact]
    public void Ports_that_the_server_ignores_are_not_checked() =>
        Assert.Empty(ValidationErrors(("urls", "http://localhost:5000"), ("http_ports", "8080")));

    [Fact]
    public void An_address_of_two_settings_is_reported_once_with_its_own_setting() =>
        Assert.StartsWith("Billing:Rest:Url:", Assert.Single(
            ValidationErrors(("Billing:Rest:Url", "http://*:5080"), ("urls", "http://localhost:5000;http://*:5080"))),
            StringComparison.Ordinal);

    [Fact]
    public void Valid_settings_have_no_problem()
    {
        Assert.Empty(new TlsOptions().ValidationErrors());
        Assert.Empty(new TlsOptions
        {
            CertificateFile = _file,
            KeyFile = _file,
            ClientCaFile = _file,
            RequireClientCertificate = true,
        }.ValidationErrors());
        Assert.Empty(new AuthOptions().ValidationErrors());
        Assert.Empty(new AuthOptions { JwksFile = _file, Issuer = "i", Audience = "a" }.ValidationErrors());
        Assert.Empty(new AuthOptions { Authority = "https://login.example", Audience = "a" }.ValidationErrors());
        Assert.Empty(new AuthOptions { Authority = "http://localhost:8080", Audience = "a" }.ValidationErrors());
        Assert.Empty(new AdminOptions { Url = "http://localhost:5090", GrpcUrl = "http://localhost:5091" }
            .ValidationErrors("http://localhost:5000"));
        Assert.Empty(new LimitOptions { RequestsPerSecond = 5, Burst = 10 }.ValidationErrors());
    }

    [Fact]
    public void Invalid_certificate_settings_are_reported_by_name()
    {
        Named("Billing:Tls:CertificateFile", new TlsOptions { CertificateFile = "/nowhere" }.ValidationErrors());
        Named(
            "Billing:Tls:KeyFile", new TlsOptions { CertificateFile = _file, KeyFile = "/nowhere" }.ValidationErrors());
        Named(
            "Billing:Tls:ClientCaFile",
            new TlsOptions { CertificateFile = _file, ClientCaFile = "/nowhere" }.ValidationErrors());
        Named(
            "Billing:Tls:ClientCrlFile: there is no file '/nowhere'",
            new TlsOptions { CertificateFile = _file, ClientCaFile = _file, ClientCrlFile = "/nowhere" }
                .ValidationErrors());
        Named(
            "Billing:Tls:ClientCrlFile needs Billing:Tls:ClientCaFile",
            new TlsOptions { CertificateFile = _file, ClientCrlFile = _file }.ValidationErrors());
        Named("Billing:Tls:CertificateFile is missing", new TlsOptions { KeyFile = _file }.ValidationErrors());
        Named(
            "Billing:Tls:RequireClientCertificate",
            new TlsOptions { CertificateFile = _file, RequireClientCertificate = true }.ValidationErrors());
    }

    [Fact]
    public void Invalid_token_settings_are_reported_by_name()
    {
        Named(
            "Billing:Auth: set JwksFile or Authority",
            new AuthOptions { JwksFile = _file, Authority = "https://a", Issuer = "i", Audience = "a" }
                .ValidationErrors());
        Named(
            "Billing:Auth:JwksFile",
            new AuthOptions { JwksFile = "/nowhere", Issuer = "i", Audience = "a" }.ValidationErrors());
        Named(
            "Billing:Auth:Authority",
            new AuthOptions { Authority = "http://login.example", Audience = "a" }.ValidationErrors());
        Named(
            "Billing:Auth:Issuer is missing", new AuthOptions { JwksFile = _file, Audience = "a" }.ValidationErrors());
        Named(
            "Billing:Auth:Audience is missing", new AuthOptions { JwksFile = _file, Issuer = "i" }.ValidationErrors());
        Named("Billing:Auth: Issuer and Audience", new AuthOptions { Issuer = "i" }.ValidationErrors());
        Named("Billing:Auth:AccountClaim", new AuthOptions { AccountClaim = "" }.ValidationErrors());
        Named(
            "Billing:Auth:Certificates:shop:Scopes: there is no scope 'all'",
            Certificate(new() { Accounts = "*/*", Scopes = "all" }));
        Named("Billing:Auth:Certificates:shop:Accounts is missing", Certificate(new() { Scopes = "accounts:manage" }));
        Named("Billing:Auth:Certificates:shop:Scopes is missing", Certificate(new() { Accounts = "*/*" }));
        Named(
            "Billing:Auth:Certificates:shop:Authority: 'CN=CA' is not the SHA-256 fingerprint",
            Certificate(new() { Accounts = "*/*", Scopes = "accounts:manage", Authority = "CN=ca" }));
        Named(
            "Billing:Auth:Certificates:shop:Accounts: 'visa/a*' is not NETWORK/ACCOUNT",
            Certificate(new() { Accounts = "visa/a */* */a-1 visa/* visa/a*", Scopes = "accounts:manage" }));
    }

    [Fact]
    public void Invalid_addresses_and_limits_are_reported_by_name()
    {
        Named(
            "Billing:Admin:Url",
            new AdminOptions { Url = "http://localhost:5000" }.ValidationErrors("http://localhost:5000"));
        Named(
            "Billing:Admin:GrpcUrl",
            new AdminOptions { Url = "http://localhost:5090", GrpcUrl = "http://localhost:5090" }
                .ValidationErrors(null));
        Named("Billing:Limits:Burst", new LimitOptions { Burst = 5 }.ValidationErrors());
    }

    private static IEnumerable<string> Certificate(CertificateRights rights) =>
        new AuthOptions { Certificates = { ["shop"] = rights } }.ValidationErrors();

    private static void Named(string expected, IEnumerable<string> problems) =>
        Assert.StartsWith(expected, Assert.Single(problems), StringComparison.Ordinal);

    private static IEnumerable<string> ValidationErrors(params (string Name, string? Value)[] settings) =>
        Exposure.ValidationErrors(Configuration(settings), knowsCallers: false);

    private static IConfiguration Configuration(params (string Name, string? Value)[] settings) =>
        new ConfigurationBuilder().AddInMemoryCollection(settings.Select(
            s => KeyValuePair.Create(s.Name, s.Value))).Build();
}
