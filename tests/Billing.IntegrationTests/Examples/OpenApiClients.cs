using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.IntegrationTests.Services;
using Billing.LocalStack.Processes;
using Billing.Messaging.Requests;

namespace Billing.IntegrationTests.Examples;

/// <summary>The generator, the linter and the client of examples/openapi with their packages.</summary>
public sealed class OpenApiInstallation() : NodeInstallation("examples/openapi");

/// <summary>docs/openapi.json as its readers use it: a linter, and two generators of clients.
/// The clients of examples/openapi call a real proxy.</summary>
[Collection(WithTokens.Name)]
public sealed class OpenApiClients(TokenStack stack, OpenApiInstallation installation)
    : IClassFixture<OpenApiInstallation>
{
    private static readonly string Done = """
        {"paid":"ACCEPTED","again":true,"held":"ACCEPTED","captured":"3","refunded":"2","balance":"13 340000000",
        "entries":["PAYMENT_ACCEPTED","PAYMENT_AUTHORISED","PAYMENT_CAPTURED","PAYMENT_REFUNDED"],
        "listed":1,"found":"order 7",
        "badField":"400 INVALID_FIELD amount","noToken":"401 TOKEN_MISSING","noScope":"403 SCOPE_MISSING",
        "notFound":"404 TRANSACTION_NOT_FOUND",
        "reused":"409 TRANSACTION_ID_REUSED","tooMuch":"400 AMOUNT_TOO_LARGE amount"}
        """.ReplaceLineEndings("");

    private static readonly string Document = Path.Combine(Repository.Root, "docs/openapi.json");

    [Fact]
    public async Task The_document_breaks_no_rule_of_style()
    {
        var linted = await LintAsync(Document);

        Assert.Equal((0, 0), (linted.Errors, linted.Warnings));
    }

    [Fact]
    public async Task A_break_of_a_rule_of_style_is_found()
    {
        await using var folder = StackFolder.Create();
        var broken = JsonNode.Parse(await File.ReadAllTextAsync(Document, Stop))!;
        broken["paths"]!.AsObject().First().Value!.AsObject().First().Value!.AsObject().Remove("security");
        broken["servers"]![0]!["url"] = "http://localhost/";
        var file = Path.Combine(folder.FullName, "openapi.json");
        await File.WriteAllTextAsync(file, broken.ToJsonString(), Stop);

        Assert.Equal(2, (await LintAsync(file)).Errors);
    }

    [Fact]
    public async Task A_client_that_openapi_typescript_generates_pays_reads_and_reads_every_kind_of_error()
    {
        var node = await installation.NodeAsync();
        await RunAsync(node, [Module("openapi-typescript/bin/cli.js"), Document, "-o", "api.d.ts"]);
        await RunAsync(node, [Module("typescript/bin/tsc"), "-p", "."]);

        var ran = await RunAsync(node, ["built/client.js", .. Arguments()]);

        Assert.Equal(Done, ran.Output.Trim());
    }

    [Fact]
    public async Task A_client_that_NSwag_generates_pays_reads_and_reads_every_kind_of_error()
    {
        var dotnet = ExternalTool.Need("dotnet");
        await using var folder = StackFolder.Create();
        File.Copy(
            Path.Combine(Repository.Root, "examples/openapi/dotnet-tools.json"),
            Path.Combine(folder.FullName, "dotnet-tools.json"));
        var restored = await ExternalTool.RunAsync(dotnet, ["tool", "restore"], folder.FullName);
        Assert.SkipWhen(
            restored.ExitCode != 0, "NuGet's registry does not provide NSwag:\n" + restored.Output + restored.Errors);
        (await ExternalTool.RunAsync(
            dotnet,
            [
                "nswag", "openapi2csclient", "/input:" + Document, "/output:generated.cs",
                "/namespace:Billing.Generated", "/useBaseUrl:false",
                "/generateOptionalParameters:true", "/generateOptionalPropertiesAsNullable:true",
                "/generateNullableReferenceTypes:true",
            ],
            folder.FullName)).Succeeded();
        var program = Path.Combine(folder.FullName, "program.cs");
        await File.WriteAllTextAsync(
            program,
            await File.ReadAllTextAsync(Path.Combine(Repository.Root, "examples/openapi/client.cs"), Stop)
                + await File.ReadAllTextAsync(Path.Combine(folder.FullName, "generated.cs"), Stop),
            Stop);

        // Else what it builds stays in the home folder.
        var environment = new Dictionary<string, string> { ["XDG_DATA_HOME"] = folder.FullName };
        var ran = await ExternalTool.RunAsync(
            dotnet, ["run", program, "--", .. Arguments()], folder.FullName, environment);

        Assert.Equal(Done, ran.Succeeded().Output.Trim());
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private string[] Arguments() =>
        [
            stack.Stack.RestAddresses[0],
            TokenStack.Token([.. Scopes.All.Where(scope => !Scopes.IsForOperators(scope))]),
            TokenStack.Token(["accounts:read"]), StackFixture.NewAccount(),
        ];

    private string Module(string path) => Path.Combine(installation.Path, "node_modules", path);

    private async Task<ToolResult> RunAsync(string node, IEnumerable<string> arguments) =>
        (await ExternalTool.RunAsync(node, arguments, installation.Path)).Succeeded();

    private async Task<(int Errors, int Warnings)> LintAsync(string file)
    {
        var linted = await ExternalTool.RunAsync(
            await installation.NodeAsync(),
            [Module("@redocly/cli/bin/cli.js"), "lint", "--format=json", file], installation.Path);
        using var result = JsonDocument.Parse(linted.Output);
        var totals = result.RootElement.GetProperty("totals");
        return (totals.GetProperty("errors").GetInt32(), totals.GetProperty("warnings").GetInt32());
    }
}
