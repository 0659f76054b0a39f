using System.Globalization;
using System.Text.RegularExpressions;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>Builds a copy of the sources with a bug in it and checks whether the bug is found.</summary>
/// <param name="copy">The copy.</param>
/// <param name="seed">The first schedule's seed.</param>
/// <param name="schedules">Maximum number of schedules to simulate.</param>
internal sealed partial class MutantHunt(SourceCopy copy, int seed, int schedules)
{
    private static readonly TimeSpan BuildBound = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan HuntBound = TimeSpan.FromMinutes(10);

    /// <summary>Checks one bug.</summary>
    /// <exception cref="StackException">The copy cannot be built.</exception>
    public async Task<MutantResult> HuntAsync(Mutant mutant, CancellationToken cancellationToken)
    {
        using var planted = copy.Plant(mutant);
        var project = mutant.Test is null ? "load/Cli" : "tests/Billing.UnitTests";
        // Warnings and analyzers are off, because code that a bug makes unused or unreachable must not fail the build.
        var (built, output) = await RunAsync(
            ["build", project, "-c", "Release", "--nologo", "-v", "quiet", "-p:TreatWarningsAsErrors=false", "-p:RunAnalyzers=false", "-p:EnforceCodeStyleInBuild=false"],
            BuildBound, cancellationToken);
        if (built != 0)
        {
            throw new StackException($"'{mutant.Name}' cannot be built:{Environment.NewLine}{output}");
        }
        return mutant.Test is null ? await SimulateAsync(mutant, cancellationToken) : await TestAsync(mutant, cancellationToken);
    }

    private async Task<MutantResult> SimulateAsync(Mutant mutant, CancellationToken cancellationToken)
    {
        var (exitCode, output) = await RunAsync(
            [Program("Billing.Cli"), "simulate", "--seed", Text(seed), "--schedules", Text(schedules), "--minutes", "5"], HuntBound, cancellationToken);
        if (exitCode == 0)
        {
            return new MutantResult(mutant, false, string.Create(CultureInfo.InvariantCulture, $"{schedules} schedules"), schedules);
        }
        return Failure().Match(output) is { Success: true } failure
            ? new MutantResult(
                mutant, true, "simulation: " + Shortened(failure.Groups[2].Value), int.Parse(failure.Groups[1].Value, CultureInfo.InvariantCulture) - seed + 1)
            : new MutantResult(mutant, true, "simulation: exit code " + Text(exitCode), 0);
    }

    private async Task<MutantResult> TestAsync(Mutant mutant, CancellationToken cancellationToken)
    {
        var (_, output) = await RunAsync(
            [Program("Billing.UnitTests"), "-noLogo", "-noColor", mutant.Test!.EndsWith("Tests", StringComparison.Ordinal) ? "-class" : "-namespace", mutant.Test],
            HuntBound, cancellationToken);
        // A named test must have failed: a non-zero exit code alone may mean that there is no such test.
        return FailedTest().Match(output) is { Success: true } failed
            ? new MutantResult(mutant, true, failed.Groups[1].Value, 0)
            : new MutantResult(mutant, false, "the tests of " + mutant.Test, 0);
    }

    private async Task<(int ExitCode, string Output)> RunAsync(
        IEnumerable<string> arguments, TimeSpan bound, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(bound, TimeProvider.System);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var (exitCode, output, errors) = await new Tool(DotnetProgram.Launcher) { Folder = copy.Folder }.TryAsync(arguments, either.Token);
            return (exitCode, output + errors);
        }
        catch (OperationCanceledException) when (timeout.IsCancellationRequested)
        {
            return (-1, "Timed out.");
        }
    }

    private string Program(string project)
    {
        var program = Path.Combine(copy.Folder, "artifacts", "bin", project, "release", project + ".dll");
        // Otherwise the exit code of the launcher would be taken for a bug that was found.
        return File.Exists(program) ? program : throw new StackException($"The build of the copy has left no {program}.");
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Shortened(string text)
    {
        var line = text.Trim().Replace("|", "/", StringComparison.Ordinal);
        return line.Length <= 110 ? line : line[..110] + "...";
    }

    [GeneratedRegex(@"^Seed (\d+) fails: (.*)$", RegexOptions.Multiline)]
    private static partial Regex Failure();

    [GeneratedRegex(@"Billing\.UnitTests\.\S*?\.(\w+)(\(.*\))? \[FAIL\]")]
    private static partial Regex FailedTest();
}
