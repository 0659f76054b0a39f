using System.Text;
using System.Text.RegularExpressions;
using Billing.LocalStack.Processes;

namespace Billing.UnitTests.House;

/// <summary>The C# in the pages about the SDK, compiled against it as it stands there. What begins with using
/// directives is a program or a class of its own; everything else is the body of a method that is given what
/// the page speaks of.</summary>
public sealed partial class SnippetTests
{
    private const string Given = """
        Microsoft.AspNetCore.Builder.WebApplicationBuilder builder, IServiceCollection services, Tokens tokens,
        BillingClient billing, BillingAdminClient admin, CardAccount account, Payment payment
        """;

    private const string Usings = """
        using System;
        using System.Collections.Generic;
        using System.Linq;
        using System.Threading;
        using System.Threading.Tasks;
        using Billing.Client;
        using Billing.Client.Testing;
        using Microsoft.Extensions.Configuration;
        using Microsoft.Extensions.DependencyInjection;
        using Xunit;

        """;

    private const string Tokens = """

        internal sealed class Tokens
        {
            public ValueTask<string> GetAsync(CancellationToken cancellationToken) => new("abc");
        }
        """;

    [Theory]
    [InlineData("README.md")]
    [InlineData("docs/sdk.md")]
    [InlineData("src/Client/README.md")]
    public async Task The_code_of_a_page_compiles(string page)
    {
        var blocks = Block().Matches(await File.ReadAllTextAsync(Path.Combine(Repository.Root, page)))
            .Select(block => block.Groups[1].Value).ToList();
        var methods = new StringBuilder(Usings).AppendLine("internal static class Snippets").AppendLine("{");
        foreach (var (number, block) in blocks.Index())
        {
            if (block.StartsWith("using ", StringComparison.Ordinal)
                && !block.StartsWith("using var", StringComparison.Ordinal))
            {
                await CompileAsync(
                    page, Usings.Replace("using Billing.Client;\n", "", StringComparison.Ordinal) + block);
            }
            else
            {
                var given = block.Contains("var payment", StringComparison.Ordinal)
                    ? Given.Replace(", Payment payment", "", StringComparison.Ordinal)
                    : Given;
                methods.AppendLine($"public static async Task Number{number}Async({given})")
                    .AppendLine($"{{\n{block}\nawait Task.CompletedTask;\n}}");
            }
        }

        Assert.NotEmpty(blocks);
        await CompileAsync(page, methods.AppendLine("}").Append(Tokens).ToString());
    }

    [Theory]
    [InlineData("Match(accepted: _ => 1, rejected: _ => 2, unknown: _ => 3)", "PayAsync(payment)")]
    [InlineData("Match(accepted: _ => 1, declined: _ => 2, rejected: _ => 3)", "PayAsync(payment)")]
    [InlineData(
        "Match(accepted: _ => 1, rejected: _ => 2)",
        "RefundAsync(new Refund(payment.Account, payment.Id, payment.Amount))")]
    public async Task A_program_that_forgets_a_case_does_not_compile(string match, string call)
    {
        var result = await RunAsync($$"""
            {{Usings}}
            internal static class Forgetful
            {
                public static async Task<int> PayAsync(BillingClient billing, Payment payment) =>
                    (await billing.{{call}}).{{match}};
            }
            """);

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains("error CS", result.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("CS0246", result.Output, StringComparison.Ordinal);
    }

    private static async Task CompileAsync(string page, string source)
    {
        var result = await RunAsync(source);
        Assert.True(result.ExitCode == 0, $"{page}: {result.Output}\n{source}");
    }

    // With the compiler of the SDK that has built this, since those in packages are older than the language.
    private static async Task<ToolResult> RunAsync(string source)
    {
        var folder = Directory.CreateTempSubdirectory("billing-snippets-").FullName;
        try
        {
            await File.WriteAllTextAsync(Path.Combine(folder, "snippet.cs"), source);
            var references = ((string)AppContext.GetData(
                "TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator).Select(path => $"-r:\"{path}\"");
            await File.WriteAllLinesAsync(
                Path.Combine(folder, "options.rsp"),
                [
                    .. references, "-nostdlib", "-nologo", "-nullable:enable",
                    "-langversion:latest", "-nowarn:CS1701,CS1702,CS0219,CS8321",
                    source.Contains("class ", StringComparison.Ordinal) ? "-target:library" : "-target:exe",
                    $"-out:\"{Path.Combine(folder, "snippet.dll")}\"",
                    Path.Combine(folder, "snippet.cs"),
                ]);
            return await ExternalTool.RunAsync(
                DotnetProgram.Launcher, ["exec", Compiler(), "-noconfig", $"@{Path.Combine(folder, "options.rsp")}"]);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static string Compiler()
    {
        var installed = Path.GetFullPath(
            Path.Combine(Path.GetDirectoryName(typeof(object).Assembly.Location)!, "../../../sdk"));
        var compilers =
            Directory.Exists(installed) ? Directory.GetFiles(installed, "csc.dll", SearchOption.AllDirectories) : [];
        Assert.SkipWhen(compilers.Length == 0, $"no compiler is under {installed}");
        return compilers.Order(StringComparer.Ordinal).Last();
    }

    [GeneratedRegex(@"^```csharp\n(.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();
}
