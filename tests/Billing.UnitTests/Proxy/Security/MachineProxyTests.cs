using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Billing.Client;
using Billing.Driver;
using Billing.LocalStack.Processes;
using Billing.UnitTests.Testing;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>A proxy with the settings, the certificate and the keys that the installation of a machine gives it, and
/// its callers with what <c>secrets.sh</c> and the operators' program give them.</summary>
public sealed class MachineProxyTests : IAsyncLifetime
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-machine-");

    // One of this machine's own, so that the ports are those of a machine's.
    private readonly string _network = $"127.{1 + (Environment.ProcessId % 250)}.0";
    private readonly FakeBackend _backend = new();
    private ProxyHost? _proxy;

    public async ValueTask InitializeAsync()
    {
        await RunAsync("secrets; install_tier; put_proxy_authority");
        await StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_proxy is not null)
        {
            await _proxy.DisposeAsync();
        }
        _folder.Delete(recursive: true);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true, 20)]
    [InlineData(false, 0)]
    public async Task The_load_driver_pays_with_the_authority_and_a_token_of_the_operators_program_and_not_without(
        bool withToken, long paid)
    {
        await IssueAsync("--scope", "payments:write", "--account", "*/*");

        var result = await LoadAsync(FileOf("ca.pem"), withToken ? FileOf("token") : null);

        Assert.Equal(paid, result.Phases[0].Payments.Ok);
        Assert.Equal(
            withToken ? [] : ["Unauthenticated"],
            result.Phases[0].Payments.Errors.Keys.Select(error => error.Split(':')[0]));
    }

    [Fact]
    public async Task A_caller_that_trusts_another_authority_sends_nothing()
    {
        await IssueAsync("--scope", "payments:write", "--account", "*/*");
        await RunAsync("secrets --folder \"$PWD/other\"");

        var result = await LoadAsync(FileOf("other/tls/ca"), FileOf("token"));

        Assert.Equal((0, 20), (result.Phases[0].Payments.Ok, result.Phases[0].Payments.Errors.Values.Sum()));
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task What_is_for_operators_is_served_at_their_address_alone()
    {
        using var http = Http(await IssueAsync("--scope", "accounts:manage", "--account", "*/*"));
        _backend.Answer = command => Task.FromResult(CompleteReplies.To(command));

        Assert.Equal(
            (HttpStatusCode.OK, HttpStatusCode.OK, HttpStatusCode.NotFound, StatusCode.Unimplemented, StatusCode.OK),
            (
                await StatusAsync(http, "5080/health/ready"), await StatusAsync(http, "5090/metrics"),
                await StatusAsync(http, "5080/metrics"), await FreezeAsync(http, 5000), await FreezeAsync(http, 5090)));
    }

    [Fact]
    public async Task The_load_balancers_check_of_health_needs_no_token_and_checks_no_certificate()
    {
        var curl = await ExternalTool.RunAsync(
            ExternalTool.Need("curl"), ["-fsSk", "--tls-max", "1.2", $"https://{_network}.31:5080/health/ready"]);

        Assert.Equal("ready", curl.Succeeded().Output);
    }

    [Fact]
    public async Task A_new_authority_certificate_and_key_of_tokens_are_taken_while_a_caller_goes_on()
    {
        var former = await IssueAsync("--scope", "payments:write", "--account", "*/*");
        using var client = Client(former);
        await PayAsync(client);
        await RunAsync("secrets --rotate tls/ca tokens/jwks; caller_settings; put_proxy_authority");
        var next = await IssueAsync("--scope", "payments:write", "--account", "*/*");
        using var other = Client(next);
        // The proxy looks for files each second.
        await Poll.UntilAsync(() => IsPaidAsync(other));

        await RunAsync("secrets --rotate --name new.example tls/proxy; caller_settings");
        await Poll.UntilAsync(async () => (await CertificateAsync()).MatchesHostname("new.example"));
        // For the caller's next connection, to a proxy whose certificate the new authority has signed.
        await _proxy!.DisposeAsync();
        await StartAsync();
        await PayAsync(client);
    }

    [Fact]
    public async Task An_installation_without_TLS_and_tokens_says_so_and_asks_for_none_of_them()
    {
        var written = await RunAsync(
            "BILLING_SECRETS=file:/nowhere BILLING_INSECURE=true install_tier; cat proxy/appsettings.json");

        var settings = JsonSerializer.Deserialize<Dictionary<string, string>>(written[written.IndexOf('{')..])!;
        Assert.Equal(
            new Dictionary<string, string>
            {
                ["Billing:Insecure"] = "true",
                ["Urls"] = $"http://{_network}.31:5000",
                ["Billing:Rest:Url"] = $"http://{_network}.31:5080",
                ["Billing:Admin:Url"] = $"http://{_network}.31:5090",
                ["Billing:Kafka:ProxyName"] = "proxy-1",
            },
            settings);
    }

    [Theory]
    [InlineData("BILLING_TOKEN_AUTHORITY=https://login.example/tenant BILLING_TOKEN_ISSUER=", "Audience", "Authority")]
    [InlineData(
        "BILLING_TOKEN_AUTHORITY=https://login.example/tenant BILLING_TOKEN_ISSUER=them", "Audience", "Authority",
        "Issuer")]
    [InlineData("BILLING_TOKEN_ISSUER=them", "Audience", "Issuer", "JwksFile")]
    public async Task Tokens_of_another_issuer_are_verified_with_the_keys_of_its_provider_or_a_key_set_of_its_own(
        string variables, params string[] expected)
    {
        var written = await RunAsync($"settings=(); {variables} caller_settings; printf '%s\\n' \"${{settings[@]}}\"");

        Assert.Equal(
            expected,
            written.Split('\n').Where(line => line.StartsWith("Billing:Auth:", StringComparison.Ordinal))
                .Select(line => line["Billing:Auth:".Length..]).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_certificate_that_does_not_name_the_machine_ends_its_installation()
    {
        var refused = await TryAsync("BILLING_ADDRESS=10.9.0.31 install_tier");

        Assert.NotEqual(0, refused.ExitCode);
        Assert.Contains("tls/proxy in", refused.Errors, StringComparison.Ordinal);
        Assert.Contains("does not name 10.9.0.31", refused.Errors, StringComparison.Ordinal);
    }

    private async Task StartAsync()
    {
        var settings = JsonSerializer.Deserialize<Dictionary<string, string?>>(
            await File.ReadAllTextAsync(FileOf("proxy/appsettings.json"), Token))!;
        // As where an address is not of this machine alone.
        settings["AllowedHosts"] = "*";
        settings["Billing:Telemetry:Prometheus"] = "true";
        _proxy = await ProxyHost.StartAsync(_backend, settings: settings);
    }

    private string FileOf(string name) => Path.Combine(_folder.FullName, name);

    private async Task<LoadResult> LoadAsync(string caFile, string? tokenFile)
    {
        await using var driver = new LoadDriver(
            new LoadSpec
            {
                Addresses = [$"https://{_network}.31:5000"],
                Shape = new LoadShape.Burst(20),
                CaFile = caFile,
                TokenFile = tokenFile,
                RetriesMax = 0,
            },
            TimeProvider.System);
        return await driver.RunAsync(CancellationToken.None);
    }

    private BillingClient Client(string token)
    {
        var options = new BillingClientOptions { Token = token, Proxies = { $"https://{_network}.31:5000" } };
        options.Tls.CaFile = FileOf("ca.pem");
        return new BillingClient(options, TimeProvider.System);
    }

    private static async Task PayAsync(BillingClient client) => Expect.Accepted(await client.PayAsync(NewPayment()));

    private static async Task<bool> IsPaidAsync(BillingClient client) =>
        (await client.PayAsync(NewPayment())).Accepted is not null;

    private static Payment NewPayment() => new(new CardAccount(CardNetwork.Visa, "acct-42"), new Amount(5, "USD"));

    // The certificate that the proxy shows.
    private async Task<X509Certificate2> CertificateAsync()
    {
        X509Certificate2? shown = null;
        using var connection = new TcpClient();
        await connection.ConnectAsync(_network + ".31", 5000, Token);
        await using var secure = new SslStream(connection.GetStream());
        await secure.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                ApplicationProtocols = [SslApplicationProtocol.Http2],
                RemoteCertificateValidationCallback = (_, certificate, _, _) =>
                {
                    shown = X509CertificateLoader.LoadCertificate(certificate!.GetRawCertData());
                    return shown.RawData.Length > 0;
                },
            },
            Token);
        return shown!;
    }

    private HttpClient Http(string token)
    {
        var trusted = X509CertificateLoader.LoadCertificateFromFile(FileOf("ca.pem"));
        var http = new HttpClient(new SocketsHttpHandler
        {
            SslOptions =
            {
                CertificateChainPolicy = new X509ChainPolicy
                {
                    TrustMode = X509ChainTrustMode.CustomRootTrust,
                    RevocationMode = X509RevocationMode.NoCheck,
                    CustomTrustStore = { trusted },
                },
            },
        });
        http.DefaultRequestHeaders.Authorization = new("Bearer", token);
        return http;
    }

    private async Task<HttpStatusCode> StatusAsync(HttpClient http, string portAndPath)
    {
        using var answer = await http.GetAsync(new Uri($"https://{_network}.31:{portAndPath}"), Token);
        return answer.StatusCode;
    }

    private async Task<StatusCode> FreezeAsync(HttpClient http, int port)
    {
        using var channel = GrpcChannel.ForAddress(
            $"https://{_network}.31:{port}", new GrpcChannelOptions { HttpClient = http });
        var freeze = new V1.SetAccountStatusRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = "acct-42",
            PaymentType = V1.PaymentType.Visa,
            AccountStatus = V1.AccountStatus.Frozen,
        };
        try
        {
            await new V1.BillingAdminService.BillingAdminServiceClient(channel).SetAccountStatusAsync(
                freeze, cancellationToken: Token);
            return StatusCode.OK;
        }
        catch (RpcException e)
        {
            return e.StatusCode;
        }
    }

    // With the operators' program, and the key that no machine has. Writes it to a file, too.
    private async Task<string> IssueAsync(params string[] claims)
    {
        var token = (await ExternalTool.RunAsync(
            DotnetProgram.Launcher,
            [DotnetProgram.FileOf("Billing.Operator"), "token", "--key", FileOf("secrets/tokens/key"), .. claims]))
            .Succeeded().Output.Trim();
        await File.WriteAllTextAsync(FileOf("token"), token + "\n", Token);
        return token;
    }

    private async Task<string> RunAsync(string script) => (await TryAsync(script)).Succeeded().Output;

    // With the bootstrap's own functions; what it keeps below /etc/billing is in this test's folder.
    private Task<ToolResult> TryAsync(string script) => ExternalTool.RunAsync(
        ExternalTool.Need("bash"),
        ["-c", $$"""
            set -euo pipefail; shopt -s inherit_errexit
            BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
            . "$BILLING_BOOTSTRAP/common.sh"; . "$BILLING_BOOTSTRAP/tiers/proxy.sh"
            settings_folder=$PWD proxy_certificate=$PWD/proxy.pem token_keys=$PWD/tokens.json
            proxy_authority=$PWD/ca.pem
            BILLING_SECRETS=file:$PWD/secrets BILLING_NAME=proxy-1 BILLING_ADDRESS={{_network}}.31
            BILLING_INSECURE=false
            BILLING_TOKEN_ISSUER=billing BILLING_TOKEN_AUDIENCE=billing BILLING_TOKEN_AUTHORITY=''
            secrets() {
              bash "$BILLING_BOOTSTRAP/../terraform/secrets.sh" --folder "$PWD/secrets" --network {{_network}}.0/16 "$@"
            }
            chown() { :; }; install() { mkdir -p "${!#}"; }
            install_program() { :; }; put_broker_authority() { :; }; kafka_settings() { :; }
            run_service() { :; }; wait_until_ready() { :; }
            {{script}}
            """],
        _folder.FullName);
}
