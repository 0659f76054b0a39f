using System.CommandLine;

namespace Billing.Cli.Commands;

/// <summary>The commands that the script <c>./billing</c> runs itself, since they build and run other programs than this one. They are
/// declared for their help pages, from which the script reads their options.</summary>
internal static class ScriptCommands
{
    public static IEnumerable<Command> Create() => [Test(), Bench()];

    private static Command Test() => OfTheScript(new Command(
        "test",
        "Builds and runs the tests, after installing the small programs that some of them need, if that requires no password; tests whose programs are missing are skipped.")
    {
        new Argument<string[]>("programs") { Description = "Test programs, such as Billing.UnitTests; all by default", HelpName = "PROGRAM", Arity = ArgumentArity.ZeroOrMore },
        new Option<bool>("--fast") { Description = "Only the tests that need no broker" },
        new Option<bool>("--install") { Description = "Also install a browser, about 500 MB, for the tests of the live page; otherwise it asks, and without a terminal skips them" },
    });

    private static Command Bench()
    {
        var command = OfTheScript(new Command(
            "bench", "Runs the benchmarks: all, or those that BenchmarkDotNet's options choose, such as --filter '*Deciding*' or --list flat."));
        command.TreatUnmatchedTokensAsErrors = false;
        return command;
    }

    private static Command OfTheScript(Command command)
    {
        command.SetAction(_ =>
        {
            Console.Error.WriteLine($"{command.Name} is a command of the script ./billing.");
            return 1;
        });
        return command;
    }
}
