using System.Globalization;
using System.Runtime.Versioning;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Nodes;
using Billing.Operator.Credentials;

namespace Billing.DeploymentTests.Terraform;

/// <summary>The script that creates passwords, with a fake of AWS's command line that stores
/// parameters as files.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class SecretsScript : IDisposable
{
    private const string StandIn = """
        #!/usr/bin/env bash
        set -euo pipefail
        echo "$*" >>"$STORE/.arguments"
        case "$1 $2" in
          "ssm describe-parameters") name=${4#Key=Name,Values=}; [[ -e $STORE/${name//\//_} ]] && echo 1 || echo 0 ;;
          "ssm put-parameter")
            input=$(cat)
            name=$(sed 's/.*"Name": "\([^"]*\)".*/\1/' <<<"$input")
            [[ $input == *'"Overwrite": true'* || ! -e $STORE/${name//\//_} ]]
            [[ $input == *'"Type": "SecureString"'* ]]
            value=$(sed -E 's/.*"Value": "(([^"\\]|\\.)*)".*/\1/; s/\\"/"/g' <<<"$input")
            printf '%b\n' "$value" >"$STORE/${name//\//_}" ;;
          "ssm get-parameter") cat "$STORE/${5//\//_}" ;;
          "ssm delete-parameter") rm "$STORE/${4//\//_}" ;;
          *) exit 9 ;;
        esac
        """;

    // etcd runs on brokers or on proxies.
    private static readonly (string Certificate, string[] Tiers)[] Certified =
        [("kafka", ["kafka"]), ("postgres", ["postgres"]), ("etcd", ["kafka", "proxy"]), ("proxy", ["proxy"])];

    private readonly string _store = Directory.CreateTempSubdirectory("billing-secrets-").FullName;
    private readonly string _bin = Directory.CreateTempSubdirectory("billing-secrets-bin-").FullName;

    public void Dispose()
    {
        Directory.Delete(_store, recursive: true);
        Directory.Delete(_bin, recursive: true);
    }

    [Fact]
    public async Task Each_secret_is_created_once_and_all_differ()
    {
        (await RunAsync()).Succeeded();
        var made = Kept();
        (await RunAsync()).Succeeded();

        Assert.Equal(made.Count, made.Values.Distinct().Count());
        Assert.Equal(15, Passwords(made).Count);
        Assert.All(Passwords(made).Values, password => Assert.Matches("^[A-Za-z0-9]{32}$", password));
        Assert.Equal(made, Kept());
    }

    [Fact]
    public async Task A_named_secret_is_rotated_keeps_its_former_value_and_the_others_stay()
    {
        (await RunAsync()).Succeeded();
        var made = Kept();

        (await RunAsync("--rotate", "kafka/proxy-2")).Succeeded();

        var changed = Assert.Single(Kept(), secret => made[secret.Key] != secret.Value);
        Assert.Equal("_billing_kafka_proxy-2", changed.Key);
        Assert.Matches("^[A-Za-z0-9]{32} " + made[changed.Key] + "$", changed.Value);
    }

    [Fact]
    public async Task The_password_of_the_backups_is_only_replaced_when_it_is_named()
    {
        (await RunAsync()).Succeeded();
        var made = Kept()["_billing_postgres_backup"];

        (await RunAsync("--rotate")).Succeeded();
        var kept = Kept()["_billing_postgres_backup"];
        (await RunAsync("--rotate", "postgres/backup")).Succeeded();

        Assert.Equal(made, kept);
        Assert.Matches("^[A-Za-z0-9]{32} " + made + "$", Kept()["_billing_postgres_backup"]);
    }

    [Fact]
    public async Task The_secret_of_a_receiver_is_accepted_and_a_new_one_stands_beside_the_one_before()
    {
        (await RunAsync("webhooks/shop")).Succeeded();
        var first = Assert.Single(Kept()).Value;
        (await RunAsync("--rotate", "webhooks/shop")).Succeeded();
        var second = Assert.Single(Kept()).Value;
        (await RunAsync("--rotate", "webhooks/shop")).Succeeded();

        Assert.Matches("^whsec_[A-Za-z0-9]{32}$", first);
        Assert.Equal(24, Convert.FromBase64String(first["whsec_".Length..]).Length);
        Assert.Equal(first, second.Split(' ')[1]);
        Assert.Equal(second.Split(' ')[0], Assert.Single(Kept()).Value.Split(' ')[1]);
        Assert.Equal(3, second.Split(' ').Append(Kept().Values.Single().Split(' ')[0]).Distinct().Count());
    }

    [Fact]
    public async Task Every_machine_that_may_exist_is_named_by_the_certificates_of_its_tier_and_no_other_address_is()
    {
        (await RunAsync("--folder", Files)).Succeeded();
        var hosts = JsonNode.Parse(string.Join(
            '\n', Repository.Lines("deploy/terraform/topology.json")))!["hosts"]!.AsArray();
        using var authority = X509Certificate2.CreateFromPem(Kept("tls/ca"));
        Assert.All(Certified, certified =>
        {
            using var certificate = X509Certificate2.CreateFromPem(Kept("tls/" + certified.Certificate));
            var named = certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().Single()
                .EnumerateIPAddresses().Select(address => address.ToString()).ToList();
            Assert.Equal(
                from tier in certified.Tiers
                let first = hosts.First(host => (string?)host!["tier"] == tier)!["address"]!.ToString().Split('.')
                from zone in Enumerable.Range(0, 3)
                from machine in Enumerable.Range(int.Parse(first[3], CultureInfo.InvariantCulture), 10)
                select $"10.20.{zone}.{machine}",
                named.Skip(1));
            Assert.Equal("127.0.0.1", named[0]);
            Assert.True(IsSignedBy(certificate, authority));
            Assert.False(certificate.Extensions.OfType<X509BasicConstraintsExtension>().Single().CertificateAuthority);
        });
    }

    [Theory]
    [InlineData("10.30.0.0/16", "10.30.0.21", "10.30.2.30")]
    [InlineData("172.16.252.0/22", "172.16.252.21", "172.16.254.30")]
    public async Task Certificates_name_the_addresses_of_another_network(string network, string first, string last)
    {
        (await RunAsync("--folder", Files, "--network", network)).Succeeded();

        using var certificate = X509Certificate2.CreateFromPem(Kept("tls/postgres"));
        var named = certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().Single()
            .EnumerateIPAddresses().Select(address => address.ToString()).ToList();

        Assert.Equal((31, first, last), (named.Count, named[1], named[^1]));
    }

    [Fact]
    public async Task A_new_authority_is_trusted_beside_the_former_one_and_signs_what_is_rotated_next()
    {
        (await RunAsync("--folder", Files)).Succeeded();
        var (first, signed) = (Kept("tls/ca").Trim(), Kept("tls/postgres"));

        (await RunAsync("--folder", Files, "--rotate", "tls/ca")).Succeeded();
        var second = Kept("tls/ca");
        Assert.Equal(signed, Kept("tls/postgres"));
        (await RunAsync("--folder", Files, "--rotate")).Succeeded();
        var resigned = Kept("tls/postgres");
        Assert.Equal(second, Kept("tls/ca"));
        (await RunAsync("--folder", Files, "--rotate", "tls/ca")).Succeeded();

        Assert.EndsWith("-----\n" + first, second.Trim(), StringComparison.Ordinal);
        using var former = X509Certificate2.CreateFromPem(first);
        using var present = X509Certificate2.CreateFromPem(second);
        using var before = X509Certificate2.CreateFromPem(signed);
        using var after = X509Certificate2.CreateFromPem(resigned);
        Assert.Equal(
            (true, false, true, false),
            (IsSignedBy(before, former), IsSignedBy(before, present),
                IsSignedBy(after, present), IsSignedBy(after, former)));
        Assert.DoesNotContain(first, Kept("tls/ca"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_key_that_is_not_the_authoritys_signs_nothing()
    {
        (await RunAsync("--folder", Files)).Succeeded();
        File.Delete(Path.Combine(Files, "tls/ca-key"));

        var result = await RunAsync("--folder", Files, "--rotate", "tls/postgres", "tls/ca-key");
        Assert.Equal(2, result.ExitCode);
        Assert.Contains("tls/ca-key is rotated with tls/ca", result.Errors, StringComparison.Ordinal);
        var kept = Kept("tls/postgres");
        (await RunAsync("--folder", Files, "tls/ca-key")).Succeeded();
        result = await RunAsync("--folder", Files, "--rotate", "tls/postgres");

        Assert.Equal(2, result.ExitCode);
        Assert.Contains("tls/ca-key is not the key of", result.Errors, StringComparison.Ordinal);
        Assert.Equal(kept, Kept("tls/postgres"));
    }

    [Theory]
    [InlineData("lb.example.com", "billing.example.com")]
    [InlineData]
    public async Task The_names_by_which_callers_reach_proxies_stay_until_others_are_given(params string[] names)
    {
        (await RunAsync(["--folder", Files, .. names.SelectMany(name => (string[])["--name", name])])).Succeeded();
        var first = Kept("tls/proxy");

        (await RunAsync("--folder", Files, "--rotate")).Succeeded();
        var second = Kept("tls/proxy");
        (await RunAsync("--folder", Files, "--rotate", "--name", "other.example.com", "tls/proxy")).Succeeded();
        var refused = await RunAsync("--folder", Files, "--name", "third.example.com");

        Assert.NotEqual(first, second);
        Assert.Equal(["localhost", .. names], NamesOf(first));
        Assert.Equal(["localhost", .. names], NamesOf(second));
        Assert.Equal(["localhost", "other.example.com"], NamesOf(Kept("tls/proxy")));
        Assert.Equal(2, refused.ExitCode);
        Assert.Contains("tls/proxy exists already: --rotate --name", refused.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_key_set_of_proxies_has_the_key_that_signs_tokens_and_the_former_one_until_the_next_rotation()
    {
        (await RunAsync("--folder", Files)).Succeeded();
        var first = Kept("tokens/key");
        var alone = KeySet();
        (await RunAsync("--folder", Files, "--rotate")).Succeeded();
        Assert.Equal(first, Kept("tokens/key"));
        (await RunAsync("--folder", Files, "--rotate", "tokens/jwks")).Succeeded();
        var second = Kept("tokens/key");
        var both = KeySet();
        (await RunAsync("--folder", Files, "--rotate", "tokens/jwks")).Succeeded();

        Assert.Equal([PublicHalf(first)], alone);
        Assert.Equal([PublicHalf(second), PublicHalf(first)], both);
        Assert.Equal([PublicHalf(Kept("tokens/key")), PublicHalf(second)], KeySet());
        Assert.DoesNotContain("\"d\"", Kept("tokens/jwks"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Proxies_are_given_the_key_set_of_another_issuer_which_no_rotation_of_all_replaces()
    {
        (await RunAsync()).Succeeded();
        var file = Path.Combine(_bin, "jwks.json");
        const string Theirs = """{ "keys": [ { "kid": "a", "kty": "RSA", "n": "AQAB", "e": "AQAB" } ] }""";
        await File.WriteAllTextAsync(file, Theirs, TestContext.Current.CancellationToken);

        (await RunAsync("--from", file, "tokens/jwks")).Succeeded();
        (await RunAsync("--rotate")).Succeeded();

        Assert.Equal(Theirs, Kept()["_billing_tokens_jwks"]);
        (await RunAsync("--rotate", "tokens/jwks")).Succeeded();
        Assert.Equal(
            PublicHalf(Kept()["_billing_tokens_key"]),
            JsonNode.Parse(Kept()["_billing_tokens_jwks"])!["keys"]!.AsArray().Single()!.ToJsonString());
    }

    [Theory]
    [InlineData("hello", "must be a key set in JSON")]
    [InlineData("""{ "keys": [ { "kty": "EC", "d": "c2VjcmV0" } ] }""", "must have no private key")]
    public async Task What_is_no_key_set_or_has_a_private_key_is_refused(string text, string message)
    {
        var file = Path.Combine(_bin, "jwks.json");
        await File.WriteAllTextAsync(file, text, TestContext.Current.CancellationToken);

        var refused = await RunAsync("--from", file, "tokens/jwks");

        Assert.Equal(2, refused.ExitCode);
        Assert.Contains(message, refused.Errors, StringComparison.Ordinal);
        Assert.Empty(Kept());
    }

    [Fact]
    public async Task In_a_folder_secrets_are_files_that_only_their_owner_may_open()
    {
        (await RunAsync("--folder", Files)).Succeeded();
        var made = Directory.EnumerateFiles(Files, "*", SearchOption.AllDirectories).ToList();

        var stored = (await RunAsync("--list")).Succeeded().Output;

        Assert.Equal(
            stored.Split('\n', StringSplitOptions.RemoveEmptyEntries).Order(StringComparer.Ordinal),
            made.Select(file => "/billing/" + Path.GetRelativePath(Files, file)).Order(StringComparer.Ordinal));
        Assert.All(made, file => Assert.Equal(
            UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file)));
        Assert.False(File.Exists(Path.Combine(_store, ".arguments")));
    }

    [Theory]
    [InlineData("tls/postgres-ca")]
    [InlineData("tls/kafka-ca")]
    public async Task The_authority_of_existing_servers_is_stored_and_what_is_none_is_refused(string name)
    {
        (await RunAsync("--folder", Files)).Succeeded();
        var authority = Path.Combine(Files, "tls/ca");

        (await RunAsync("--from", authority, name)).Succeeded();
        var refused = await RunAsync("--from", "/etc/hostname", name);

        var stored = Assert.Single(Kept());
        Assert.Equal(("_billing_" + name.Replace('/', '_'), Kept("tls/ca").Trim()), (stored.Key, stored.Value));
        Assert.Equal(2, refused.ExitCode);
        Assert.Contains("must be a certificate in PEM", refused.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Secrets_can_be_deleted()
    {
        (await RunAsync("--prefix", "/other")).Succeeded();
        (await RunAsync("--prefix", "/other", "--delete")).Succeeded();

        Assert.Empty(Kept());
    }

    [Fact]
    public async Task No_argument_and_no_line_of_output_contains_a_password()
    {
        var output = (await RunAsync()).Succeeded().Output;

        var arguments = await File.ReadAllTextAsync(
            Path.Combine(_store, ".arguments"), TestContext.Current.CancellationToken);
        Assert.All(
            Kept().Values.SelectMany(secret => secret.Split('\n')),
            line => Assert.DoesNotContain(line, arguments + output, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("kafka/proxies")]
    [InlineData("kafka/proxy-4")]
    [InlineData("--proxies", "31")]
    [InlineData("--network", "10.20.0.1/16")]
    [InlineData("--network", "10.0.0.0/8")]
    [InlineData("--rotate", "tls/ca-key")]
    [InlineData("--rotate", "tokens/key")]
    [InlineData("--name", "10.20.0.31")]
    [InlineData("--name", "a,DNS:b")]
    [InlineData("--from", "/etc/hostname")]
    [InlineData("--from", "/etc/hostname", "tls/ca")]
    [InlineData("tls/kafka-ca")]
    [InlineData("webhooks/Shop")]
    [InlineData("--prefix", "billing")]
    [InlineData("--all")]
    public async Task Invalid_arguments_are_rejected(params string[] arguments)
    {
        Assert.Equal(2, (await RunAsync(arguments)).ExitCode);
        Assert.Empty(Kept());
    }

    private static bool IsSignedBy(X509Certificate2 certificate, X509Certificate2 authority)
    {
        using var chain = new X509Chain
        {
            ChainPolicy =
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust, CustomTrustStore = { authority },
                RevocationMode = X509RevocationMode.NoCheck,
            },
        };
        return chain.Build(certificate);
    }

    private static Dictionary<string, string> Passwords(Dictionary<string, string> secrets) => secrets
        .Where(secret => !secret.Key.StartsWith("_billing_t", StringComparison.Ordinal)).ToDictionary();

    private static List<string> NamesOf(string pem)
    {
        using var certificate = X509Certificate2.CreateFromPem(pem);
        return
        [
            .. certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().Single().EnumerateDnsNames(),
        ];
    }

    private List<string> KeySet() =>
        [.. JsonNode.Parse(Kept("tokens/jwks"))!["keys"]!.AsArray().Select(key => key!.ToJsonString())];

    private static string PublicHalf(string pem)
    {
        using var issuer = TokenIssuer.Of(pem, TimeProvider.System);
        return JsonNode.Parse(issuer.Jwks)!["keys"]![0]!.ToJsonString();
    }

    private string Files => Path.Combine(_bin, "files");

    private string Kept(string name) => File.ReadAllText(Path.Combine(Files, name));

    private Dictionary<string, string> Kept() =>
        Directory.EnumerateFiles(_store).Where(file => Path.GetFileName(file) != ".arguments")
            .ToDictionary(file => Path.GetFileName(file), file => File.ReadAllText(file).Trim());

    private async Task<ToolResult> RunAsync(params IEnumerable<string> arguments)
    {
        var aws = Path.Combine(_bin, "aws");
        await File.WriteAllTextAsync(aws, StandIn);
        File.SetUnixFileMode(aws, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return await ExternalTool.RunAsync(
            ExternalTool.Need("bash"),
            ["deploy/terraform/secrets.sh", .. arguments],
            environment: new Dictionary<string, string>
            {
                ["STORE"] = _store,
                ["PATH"] = $"{_bin}:{Environment.GetEnvironmentVariable("PATH")}",
            });
    }
}
