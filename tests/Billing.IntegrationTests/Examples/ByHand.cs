using System.Diagnostics;
using System.Text;
using System.Text.RegularExpressions;
using Billing.IntegrationTests.Services;

namespace Billing.IntegrationTests.Examples;

/// <summary>Runs the commands of docs/by-hand.md.</summary>
[Collection(InOneProcess.Name)]
public sealed partial class ByHand(EmbeddedStack stack)
{
    private const string Page = "docs/by-hand.md";

    // The script prints this after each command; no command of the page prints it.
    private const string EndOfOutput = "\u0001";

    [Fact]
    public async Task The_commands_of_the_page_print_the_output_that_it_shows()
    {
        ExternalTool.Need("curl");
        var tools = Path.GetDirectoryName(ExternalTool.Need("grpcurl"));
        var examples = Read(Repository.Lines(Page));
        var script = new StringBuilder($"PATH='{tools}':$PATH\n");
        foreach (var (command, _) in examples)
        {
            script.Append(ForThisStack(command)).Append("\nprintf '\\001'\n");
        }

        var printed = (await RunAsync(script.ToString())).Split(EndOfOutput);

        Assert.Equal(examples.Count + 1, printed.Length);
        Assert.All(examples.Zip(printed), example => Assert.True(
            Pattern(example.First.Output).IsMatch(NormalizeSpaces(example.Second)),
            $"$ {example.First.Command}\nprinted\n{example.Second}\nbut {Page} shows\n{example.First.Output}"));
    }

    [Fact]
    public void The_page_mentions_every_method_and_every_route()
    {
        var page = string.Join('\n', Repository.Lines(Page));
        var methods = V1.BillingReflection.Descriptor.Services.SelectMany(s => s.Methods).Select(m => $"{m.Service.FullName}/{m.Name}");
        Assert.All(methods, method => Assert.Contains(method, page, StringComparison.Ordinal));
        Assert.All(
            ["$REST/v1/payments/", "$REST/v1/authorisations/", "$REST/v1/captures/", "$REST/v1/voids/", "$REST/v1/refunds/", "/balance", "/statement", "/credit-limit", "respond-async", "/status", "/health/live", "/health/ready", "/openapi/v1.json", "/docs"],
            route => Assert.Contains(route, page, StringComparison.Ordinal));
    }

    /// <summary>Returns the commands of the page's console blocks, each with its expected output. A command follows a <c>$</c>
    /// and continues on indented lines.</summary>
    private static List<(string Command, string Output)> Read(IEnumerable<string> page)
    {
        var examples = new List<(string Command, string Output)>();
        var isInside = false;
        var isCommand = false;
        foreach (var line in page)
        {
            if (line.StartsWith("```", StringComparison.Ordinal))
            {
                isInside = line == "```console";
            }
            else if (isInside && line.StartsWith("$ ", StringComparison.Ordinal))
            {
                examples.Add((line[2..], ""));
                isCommand = true;
            }
            else if (isInside && isCommand && line.StartsWith("    ", StringComparison.Ordinal))
            {
                examples[^1] = (examples[^1].Command + "\n" + line, "");
            }
            else if (isInside)
            {
                isCommand = false;
                examples[^1] = (examples[^1].Command, examples[^1].Output + line + "\n");
            }
        }
        return examples;
    }

    /// <summary>Replaces the addresses of the page's stack with those of this test's stack.</summary>
    private string ForThisStack(string command) => command switch
    {
        _ when command.StartsWith("GRPC=", StringComparison.Ordinal) => "GRPC=" + new Uri(stack.Stack.ProxyAddresses[0]).Authority,
        _ when command.StartsWith("REST=", StringComparison.Ordinal) => "REST=" + stack.Stack.RestAddresses[0],
        _ => command,
    };

    private static Regex Pattern(string output) =>
        new(
            "^" + Regex.Escape(NormalizeSpaces(output)).Replace(@"\.\.\.", ".*?", StringComparison.Ordinal) + "$",
            RegexOptions.Singleline);

    // The indentation and spacing of grpcurl vary.
    private static string NormalizeSpaces(string text) => Spaces().Replace(text, " ").Trim();

    private static async Task<string> RunAsync(string script)
    {
        var start = new ProcessStartInfo("bash", ["-c", "exec 2>&1; eval \"$(cat)\""])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        using var bash = Process.Start(start)!;
        await bash.StandardInput.WriteAsync(script);
        bash.StandardInput.Close();
        return await bash.StandardOutput.ReadToEndAsync();
    }

    [GeneratedRegex(@"\s+")]
    private static partial Regex Spaces();
}
