using System.CommandLine;
using Billing.Cli.Commands;
using Billing.Rehearsal;
using Spectre.Console;

namespace Billing.DeploymentTests;

/// <summary>The pages under eng/help, which <c>./billing</c> uses to print help and to check arguments before it installs or
/// builds anything, equal the programs' own help.</summary>
public sealed class HelpPages
{
    /// <summary>If this environment variable is set, the pages are written before they are compared.</summary>
    private const string WriteVariable = "BILLING_WRITE_HELP";

    private static readonly string Folder = Path.Combine(Repository.Root, "eng", "help");

    [Fact]
    public async Task Each_command_has_a_page_equal_to_its_help_and_there_are_no_other_pages()
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });
        var root = BillingCommand.Create(console, RehearseCommand.Create(console));
        var pages = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var path in Paths(root, []))
        {
            using var output = new StringWriter { NewLine = "\n" };
            await root.Parse([.. path, "--help"]).InvokeAsync(new InvocationConfiguration { Output = output }, TestContext.Current.CancellationToken);
            pages[string.Join('-', ["billing", .. path]) + ".txt"] = output.ToString().TrimEnd('\n') + "\n";
        }

        if (Environment.GetEnvironmentVariable(WriteVariable) is { Length: > 0 })
        {
            WriteAll(pages);
        }

        Assert.Equal(pages.Keys, Directory.EnumerateFiles(Folder).Select(file => Path.GetFileName(file)).Order(StringComparer.Ordinal));
        Assert.All(pages, page => Assert.Equal(page.Value, File.ReadAllText(Path.Combine(Folder, page.Key))));
    }

    private static IEnumerable<string[]> Paths(Command command, string[] path) =>
    [
        path,
        .. command.Subcommands.Where(c => !c.Hidden).SelectMany(c => Paths(c, [.. path, c.Name])),
    ];

    private static void WriteAll(IReadOnlyDictionary<string, string> pages)
    {
        Directory.CreateDirectory(Folder);
        foreach (var file in Directory.EnumerateFiles(Folder))
        {
            File.Delete(file);
        }
        foreach (var (name, text) in pages)
        {
            File.WriteAllText(Path.Combine(Folder, name), text);
        }
    }
}
