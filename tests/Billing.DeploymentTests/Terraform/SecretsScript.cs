using System.Runtime.Versioning;

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
            sed 's/.*"Value": "\([^"]*\)".*/\1/' <<<"$input" >"$STORE/${name//\//_}" ;;
          "ssm get-parameter") cat "$STORE/${5//\//_}" ;;
          "ssm delete-parameter") rm "$STORE/${4//\//_}" ;;
          *) exit 9 ;;
        esac
        """;

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

        Assert.Equal(12, made.Values.Distinct().Count());
        Assert.All(made.Values, password => Assert.Matches("^[A-Za-z0-9]{32}$", password));
        Assert.Equal(made, Kept());
    }

    [Fact]
    public async Task A_named_secret_is_rotated_keeps_its_former_value_and_the_others_stay()
    {
        (await RunAsync()).Succeeded();
        var made = Kept();

        (await RunAsync("--rotate", "kafka/proxy")).Succeeded();

        var changed = Assert.Single(Kept(), secret => made[secret.Key] != secret.Value);
        Assert.Equal("_billing_kafka_proxy", changed.Key);
        Assert.Matches("^[A-Za-z0-9]{32} " + made[changed.Key] + "$", changed.Value);
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
            Kept().Values, password => Assert.DoesNotContain(password, arguments + output, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("kafka/proxies")]
    [InlineData("webhooks/Shop")]
    [InlineData("--prefix", "billing")]
    [InlineData("--all")]
    public async Task Invalid_arguments_are_rejected(params string[] arguments)
    {
        Assert.Equal(2, (await RunAsync(arguments)).ExitCode);
        Assert.Empty(Kept());
    }

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
