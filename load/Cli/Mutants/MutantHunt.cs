using System.Text.RegularExpressions;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>Builds a copy of the sources with a bug in it and checks whether the bug is found.</summary>
internal sealed partial class MutantHunt(SourceCopy copy, int seed, int schedules)
{
    // Only for what hangs: tests and simulation take minutes where nothing else runs.
    private static readonly TimeSpan Bound = TimeSpan.FromHours(1);

    /// <summary>Builds the programs that look for the bugs: the simulation, and the tests.</summary>
    public async Task BuildAsync(IEnumerable<Mutant> mutants, CancellationToken cancellationToken)
    {
        foreach (var program in mutants.Select(mutant => mutant.Program).Distinct())
        {
            await BuildAsync(
                program, program == Mutant.Simulation ? "load/Cli" : "tests/" + program, cancellationToken);
        }
    }

    /// <summary>Plants a bug, and looks for it. Only the assembly with the bug is compiled, and takes the place of the
    /// right one in the program that looks for it.</summary>
    public async Task<MutantResult> HuntAsync(Mutant mutant, CancellationToken cancellationToken)
    {
        var project = copy.ProjectOf(mutant);
        var name = Path.GetFileNameWithoutExtension(project);
        var built = Path.Combine(Output(name), name + ".dll");
        // Tests start programs from folders of their own.
        var places = Directory.GetFiles(
            Path.Combine(copy.Folder, "artifacts", "bin"), name + ".dll", SearchOption.AllDirectories);
        var (source, right) = (copy.Plant(mutant), await File.ReadAllBytesAsync(built, cancellationToken));
        try
        {
            await BuildAsync(
                mutant.Name, project, cancellationToken, "--no-restore", "-p:BuildProjectReferences=false");
            CopyTo(places, await File.ReadAllBytesAsync(built, cancellationToken));
            return mutant.Test is null
                ? await SimulateAsync(mutant, cancellationToken)
                : await TestAsync(mutant, cancellationToken);
        }
        finally
        {
            copy.Restore(mutant, source);
            CopyTo(places, right);
        }
    }

    private static void CopyTo(string[] places, byte[] assembly) =>
        Array.ForEach(places, place => File.WriteAllBytes(place, assembly));

    // Warnings and analyzers are off, because code that a bug makes unused or unreachable must not fail the build.
    private async Task BuildAsync(
        string what, string project, CancellationToken cancellationToken, params string[] options)
    {
        var (built, output) = await RunAsync(cancellationToken, [
            "build", project, "-c", "Release", "--nologo", "-v", "quiet",
            "-p:TreatWarningsAsErrors=false", "-p:RunAnalyzers=false", "-p:EnforceCodeStyleInBuild=false", .. options]);
        if (built != 0)
        {
            throw new StackException($"'{what}' cannot be built:\n{output}");
        }
    }

    private async Task<MutantResult> SimulateAsync(Mutant mutant, CancellationToken cancellationToken)
    {
        var (exitCode, output) = await RunAsync(
            cancellationToken, Program(mutant), "simulate", "--seed", $"{seed}", "--schedules",
            $"{schedules}", "--minutes", $"{Bound.TotalMinutes}");
        if (exitCode == 0)
        {
            return new MutantResult(mutant, false, $"{schedules} schedules", schedules);
        }
        return Failure().Match(output) is { Success: true } failure
            ? new MutantResult(
                mutant, true, "simulation: " + Shortened(failure.Groups[2].Value),
                int.Parse(failure.Groups[1].Value) - seed + 1)
            : new MutantResult(mutant, true, $"simulation: exit code {exitCode}", 0);
    }

    private async Task<MutantResult> TestAsync(Mutant mutant, CancellationToken cancellationToken)
    {
        var (_, output) = await RunAsync(
            cancellationToken, Program(mutant), "-noLogo", "-noColor",
            IsClass(mutant) ? "-class" : "-namespace", mutant.Test!);
        // A named test must have failed: a non-zero exit code alone may mean that there is no such test.
        return FailedTest().Match(output) is { Success: true } failed
            ? new MutantResult(mutant, true, $"{failed.Groups[1]}.{failed.Groups[2]}", 0)
            : new MutantResult(mutant, false, $"the tests of {mutant.Test}: {Counts().Match(output)}", 0);
    }

    private bool IsClass(Mutant mutant) => Directory.EnumerateFiles(
        Path.Combine(copy.Folder, "tests", mutant.Program),
        mutant.Test!.Split('.')[^1] + ".cs", SearchOption.AllDirectories).Any();

    private async Task<(int ExitCode, string Output)> RunAsync(
        CancellationToken cancellationToken, params string[] arguments)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(Bound);
        try
        {
            var (exitCode, output, errors) = await new Tool(DotnetProgram.Launcher) { Folder = copy.Folder }.TryAsync(
                arguments, bound.Token);
            return (exitCode, output + errors);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return (-1, "Timed out.");
        }
    }

    private string Program(Mutant mutant)
    {
        var program = Path.Combine(Output(mutant.Program), mutant.Program + ".dll");
        // Otherwise the exit code of the launcher would be taken for a bug that was found.
        return File.Exists(program)
            ? program
            : throw new StackException($"The build of the copy has left no {program}.");
    }

    private string Output(string assembly) => Path.Combine(copy.Folder, "artifacts", "bin", assembly, "release");

    private static string Shortened(string text)
    {
        var line = text.Trim().Replace("|", "/", StringComparison.Ordinal);
        return line.Length <= 110 ? line : line[..110] + "...";
    }

    [GeneratedRegex(@"^Seed (\d+) fails: (.*)$", RegexOptions.Multiline)]
    private static partial Regex Failure();

    [GeneratedRegex(@"Billing\.\w+Tests\.\S*?(\w+)\.(\w+)(\(.*\))? \[FAIL\]")]
    private static partial Regex FailedTest();

    [GeneratedRegex(@"Total: .*|Timed out\.")]
    private static partial Regex Counts();
}
