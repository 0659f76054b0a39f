using System.Formats.Tar;
using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace Billing.DeploymentTests.Terraform;

/// <summary>The script of a machine's first start.</summary>
public sealed partial class UserData
{
    private static readonly string[] OnAws =
    [
        "aws_region=us-east-1", "release=s3://billing-release-123456789012-us-east-1/1.0.0",
        "secrets=ssm:/billing", $"bootstrap_sha256={new string('a', 64)}",
        TopologyModule.Webhooks,
    ];

    private static readonly string[] MachineFolders = ["/etc/billing", "/opt/billing", "/run/systemd"];

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Shellcheck_finds_no_problem_in_the_script_of_any_tier(bool aws)
    {
        await using var copy = TerraformCopy.Make();

        foreach (var (_, script) in await RenderAsync(copy, aws ? OnAws : []))
        {
            (await CheckAsync(copy, script)).Succeeded();
        }
    }

    [Fact]
    public async Task Shellcheck_finds_a_planted_mistake()
    {
        await using var copy = TerraformCopy.Make();
        copy.Plant(
            "modules/topology/user-data.sh.tftpl", "retry dpkg --install \"$work/agent.deb\"",
            "retry dpkg --install $work/agent.deb");

        var result = await CheckAsync(copy, (await RenderAsync(copy, OnAws))["proxy-1"]);

        Assert.Contains("SC2086", result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Every_machine_gets_all_documented_variables()
    {
        await using var copy = TerraformCopy.Make();
        var contract = Repository.Lines("deploy/README.md").Select(line => VariableRow().Match(line))
            .Where(row => row.Success).Select(row => row.Groups[1].Value);

        var rendered = await RenderAsync(copy, OnAws);

        Assert.Equal(20, rendered.Count);
        Assert.All(rendered.Values, script =>
            Assert.Equal(contract.Order(), Assigned().Matches(script).Select(match => match.Groups[1].Value).Order()));
    }

    [Fact]
    public async Task No_script_contains_a_secret()
    {
        await using var copy = TerraformCopy.Make();

        Assert.Empty((await RenderAsync(copy, OnAws)).Values.SelectMany(Secrecy.Find));
    }

    [Theory]
    [InlineData("export PGPASSWORD=hunter2")]
    [InlineData("echo 'password: hunter2' >/etc/billing/kafka.properties")]
    [InlineData("curl -H 'X-Key: 9fK2mQx7LpR4tVw8ZbN3sHd6'")]
    [InlineData("export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE")]
    [InlineData("psql postgres://owner:hunter2@10.20.0.21/billing")]
    public async Task A_planted_secret_is_found(string line)
    {
        await using var copy = TerraformCopy.Make();
        copy.Plant("modules/topology/user-data.sh.tftpl", "umask 022\n", $"umask 022\n{line}\n");

        Assert.All((await RenderAsync(copy, OnAws)).Values, script => Assert.NotEmpty(Secrecy.Find(script)));
    }

    [Fact]
    public async Task The_bootstrap_is_installed_if_its_checksum_matches()
    {
        await using var copy = TerraformCopy.Make();

        var result = await StartAsync(copy, checksum => checksum);

        Assert.Equal("proxy-1 becomes a proxy\n", result.Succeeded().Output);
    }

    [Fact]
    public async Task A_bootstrap_with_a_wrong_checksum_does_not_run()
    {
        await using var copy = TerraformCopy.Make();

        var result = await StartAsync(copy, checksum => new string('0', checksum.Length));

        Assert.NotEqual(0, result.ExitCode);
        Assert.DoesNotContain("becomes", result.Output, StringComparison.Ordinal);
        Assert.Contains("user data failed in line", result.Output, StringComparison.Ordinal);
    }

    private static async Task<Dictionary<string, string>> RenderAsync(
        TerraformCopy copy, IEnumerable<string> variables) =>
        (await copy.PlanAsync(TopologyModule.Module, variables)).Output("user_data").EnumerateObject()
            .ToDictionary(machine => machine.Name, machine => machine.Value.GetString()!);

    private static async Task<ToolResult> CheckAsync(TerraformCopy copy, string script)
    {
        var path = Path.Combine(copy.Folder, "user-data.sh");
        await File.WriteAllTextAsync(path, script);
        (await ExternalTool.RunAsync(ExternalTool.Need("bash"), ["-n", path])).Succeeded();
        return await ExternalTool.RunAsync(ExternalTool.Need("shellcheck"), [path]);
    }

    /// <summary>Runs a proxy's script with the machine's folders below the copy, and with a release whose bootstrap
    /// only prints its variables.</summary>
    private static async Task<ToolResult> StartAsync(TerraformCopy copy, Func<string, string> configured)
    {
        ExternalTool.Need("curl");
        var archive = Archive(
            "install.sh", $". {copy.Folder}/etc/billing/host.env\necho \"$BILLING_NAME becomes a $BILLING_TIER\"\n");
        await File.WriteAllBytesAsync(Path.Combine(copy.ReleaseFolder, "billing-bootstrap-1.0.0.tar.gz"), archive);
        var checksum = Convert.ToHexStringLower(SHA256.HashData(archive));

        var scripts = await RenderAsync(
            copy, [$"release=file://{copy.ReleaseFolder}", $"bootstrap_sha256={configured(checksum)}"]);
        var script = MachineFolders
            .Aggregate(
                scripts["proxy-1"],
                (text, folder) => text.Replace(folder, copy.Folder + folder, StringComparison.Ordinal));
        var path = Path.Combine(copy.Folder, "user-data.sh");
        await File.WriteAllTextAsync(path, script);
        return await ExternalTool.RunAsync(ExternalTool.Need("bash"), [path]);
    }

    private static byte[] Archive(string name, string text)
    {
        using var bytes = new MemoryStream();
        using (var zip = new GZipStream(bytes, CompressionLevel.Fastest, leaveOpen: true))
        using (var tar = new TarWriter(zip))
        {
            tar.WriteEntry(new PaxTarEntry(TarEntryType.RegularFile, name)
            {
                DataStream = new MemoryStream(Encoding.UTF8.GetBytes(text)),
            });
        }
        return bytes.ToArray();
    }

    [GeneratedRegex("^\\| `(BILLING_[A-Z_]+)` \\|")]
    private static partial Regex VariableRow();

    [GeneratedRegex("^(BILLING_[A-Z_]+)='", RegexOptions.Multiline)]
    private static partial Regex Assigned();
}
