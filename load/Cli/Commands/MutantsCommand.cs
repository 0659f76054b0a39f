using System.CommandLine;
using Billing.Cli.Mutants;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Inserts the bugs of <c>eng/mutants.json</c>, one by one, into a copy of the sources, and checks whether the
/// simulation or a test finds them.</summary>
internal static class MutantsCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var schedules = Flags.Number(
            "--schedules", "Maximum number of schedules to simulate for each bug", 20_000, 1, int.MaxValue);
        var seed = Flags.Number("--seed", "The first schedule's seed", 1, 0, int.MaxValue);
        var only = Flags.Text("--only", "Only bugs whose name contains this text", "TEXT");
        var report = Flags.Text("--report", "File for the page of the bugs, as Markdown", "FILE");
        var command = new Command(
            "mutants",
            "Inserts known bugs into a copy of the sources, one by one, and checks whether the simulation or a "
                + "test finds them.")
        {
            schedules, seed, only, report,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var mutants = Mutant.ReadAll(SourceCopy.Root).Where(
                m => parsed.GetValue(only) is not { } text
                    || m.Name.Contains(text, StringComparison.OrdinalIgnoreCase)).ToList();
            if (mutants.Count == 0)
            {
                throw new StackException($"--only: no mutant's name contains '{parsed.GetValue(only)}'.");
            }
            if (mutants.Exists(m => m.Program == "Billing.IntegrationTests"))
            {
                // Without it these tests would fail for any bug.
                PostgresPrograms.FindFolder();
            }
            using var copy = await SourceCopy.CreateAsync(cancellationToken);
            console.WriteLine($"Inserting {mutants.Count} bugs into {copy.Folder}.");
            var hunt = new MutantHunt(copy, parsed.GetValue(seed), parsed.GetValue(schedules));
            await hunt.BuildAsync(mutants, cancellationToken);
            var found = new List<MutantResult>();
            foreach (var mutant in mutants)
            {
                var result = await hunt.HuntAsync(mutant, cancellationToken);
                found.Add(result);
                console.WriteLine($"{(result.IsFound ? "found " : "MISSED")}  {mutant.Name}: {result.By}");
            }
            if (parsed.GetValue(report) is { } file)
            {
                var today = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime);
                await File.WriteAllTextAsync(file, MutantResult.Page(found, today), cancellationToken);
            }
            console.WriteLine($"{found.Count(r => r.IsFound)} of {found.Count} bugs found.");
            return found.TrueForAll(r => r.IsFound) ? 0 : 1;
        });
    }
}
