using Billing.IntegrationTests.Examples;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Lint;

/// <summary>buf, in the version of its lock file.</summary>
public sealed class BufInstallation() : NodeInstallation("tests/Billing.IntegrationTests/buf");

/// <summary>The contracts by the rules that buf.yaml names.</summary>
public sealed class ContractLint(BufInstallation buf) : IClassFixture<BufInstallation>
{
    private static readonly string[] Files =
    [
        "buf.yaml",
        "src/Contracts/Protos/billing/v1/billing.proto",
        "src/Messaging/Protos/billing/wire/v1/wire.proto",
    ];

    [Fact]
    public async Task No_contract_breaks_a_rule_of_style_but_where_it_says_why()
    {
        var linted = await LintAsync(Repository.Root);

        Assert.Equal("", linted.Output);
        linted.Succeeded();
    }

    [Fact]
    public async Task A_value_without_the_name_of_its_enum_is_found()
    {
        await using var folder = StackFolder.Create();
        foreach (var path in Files)
        {
            var text = await File.ReadAllTextAsync(Path.Combine(Repository.Root, path), Stop);
            var copy = Path.Combine(folder.FullName, path);
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            text = text.Replace(" PAYMENT_TYPE_AMEX ", " AMEX ", StringComparison.Ordinal);
            await File.WriteAllTextAsync(copy, text, Stop);
        }

        var linted = await LintAsync(folder.FullName);

        Assert.NotEqual(0, linted.ExitCode);
        var found = Assert.Single(linted.Output.TrimEnd().Split('\n'));
        Assert.Contains("\"AMEX\" should be prefixed with \"PAYMENT_TYPE_\"", found, StringComparison.Ordinal);
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private async Task<ToolResult> LintAsync(string folder)
    {
        var node = await buf.NodeAsync();
        return await ExternalTool.RunAsync(
            node, [Path.Combine(buf.Path, "node_modules/@bufbuild/buf/bin/buf"), "lint"], folder);
    }
}
