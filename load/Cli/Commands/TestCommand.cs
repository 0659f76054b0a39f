using System.CommandLine;
using System.Globalization;
using Billing.Cli.Arguments;
using Billing.Cli.Mutants;
using Billing.Cli.Setup;
using Billing.Cli.Testing;
using Billing.LocalStack.Processes;
using Billing.Operator.Arguments;

namespace Billing.Cli.Commands;

/// <summary><c>./billing test</c> and <c>./billing bench</c>. The script has built what they run.</summary>
internal static class TestCommand
{
    public static Command Create()
    {
        var programs = new Argument<string[]>("programs")
        {
            Description = "Test programs, such as Billing.UnitTests; all by default",
            HelpName = "PROGRAM",
            Arity = ArgumentArity.ZeroOrMore,
        };
        var fast = new Option<bool>("--fast") { Description = "Only the tests that need no broker" };
        var install = new Option<bool>("--install")
        {
            Description =
                "Also install a browser, about 500 MB, for the tests of the live page; "
                + "otherwise it asks, and without a terminal skips them",
        };
        var fuzz = Flags.Decimal(
            "--fuzz", "Only the fuzzers, each for X minutes: hostile records, frames, tokens and requests",
            0.01, 10_000);
        programs.Validators.Add(result =>
        {
            var there = TestRun.ProgramsOf(SourceCopy.Root);
            foreach (var name in result.Tokens.Select(token => token.Value).Except(there))
            {
                result.AddError($"There are no tests called '{name}'; there are {string.Join(", ", there)}.");
            }
        });
        var command = new Command(
            "test",
            "Builds and runs the tests, after installing the small programs that some of them need, "
                + "if that requires no password; tests whose programs are missing are skipped.")
        {
            programs, fast, install, fuzz, ProcessorsFlag.Option,
        };
        command.Validators.Add(result =>
        {
            if (result.GetResult(fuzz) is not null
                && (result.GetResult(programs)?.Tokens.Count > 0 || result.GetResult(fast) is { Implicit: false }))
            {
                result.AddError("--fuzz chooses the tests itself: leave out --fast and the programs.");
            }
        });
        return command.Does(async (parsed, cancellationToken) =>
        {
            if (parsed.GetValue(fuzz) is { } minutes)
            {
                Environment.SetEnvironmentVariable(
                    "BILLING_FUZZ_MINUTES", minutes.ToString(CultureInfo.InvariantCulture));
                return await new TestRun("-namespace", "Billing.UnitTests.Fuzzing").RunAsync(
                    ["Billing.UnitTests"], cancellationToken);
            }
            var workspace = Workspace.FromEnvironment();
            var chosen = (parsed.GetValue(programs)
                ?? []).Concat(parsed.GetValue(fast) ? ["Billing.UnitTests"] : []).ToHashSet();
            var names = chosen.Count > 0 ? chosen : [.. TestRun.ProgramsOf(workspace.Root)];
            var installer = new Installer(SystemPrograms.Current, workspace.State);
            await new TestPrograms(
                workspace, installer, parsed.GetValue(install),
                Console.IsInputRedirected || Console.IsErrorRedirected ? null : Ask)
                .InstallAsync(names, cancellationToken);
            return await new TestRun().RunAsync(names, cancellationToken);
        });
    }

    private static string? Ask(string question)
    {
        Console.Error.Write(question);
        return Console.ReadLine();
    }

    public static Command CreateBench()
    {
        var command = new Command(
            "bench",
            "Runs the benchmarks: all, or those that BenchmarkDotNet's options choose, such as --filter '*Deciding*' "
                + "or --list flat.")
        {
            TreatUnmatchedTokensAsErrors = false,
        };
        return command.Does((parsed, cancellationToken) =>
            new Tool(DotnetProgram.Launcher, DotnetProgram.FileOf("Billing.Benchmarks")).PassThroughAsync(
                parsed.UnmatchedTokens, cancellationToken));
    }
}
