using System.CommandLine;
using Billing.Cli.Commands;
using Billing.UnitTests.House;
using Spectre.Console;

namespace Billing.UnitTests.Cli.Commands;

/// <summary>The pages under eng/help, by which <c>./billing</c> prints help and refuses arguments before it installs or builds anything,
/// are what the program itself prints.</summary>
public sealed class HelpPagesTests
{
    /// <summary>Set it to write the pages instead of comparing them.</summary>
    private const string WriteVariable = "BILLING_WRITE_HELP";

    private static readonly string Folder = Path.Combine(Repository.Root, "eng", "help");

    [Fact]
    public async Task Each_command_has_the_page_that_the_program_prints_and_there_are_no_others()
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });
        var root = BillingCommand.Create(console);
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
