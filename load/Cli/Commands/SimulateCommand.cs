using System.CommandLine;
using Billing.Operator.Arguments;
using Billing.Simulation.Runs;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Runs the platform's own code on models of Kafka and the event store, in simulated time, schedule after
/// schedule, until one fails or the time is up.</summary>
internal static class SimulateCommand
{
    private const double ProgressSeconds = 10;

    // So long a simulation reaches what it is meant to reach.
    private const double LongMinutes = 10;

    public static Command Create(IAnsiConsole console)
    {
        var seed = new Option<int?>(
            "--seed")
        { Description = "The first schedule's seed; from the clock by default", HelpName = "N" };
        var minutes = Flags.Number("--minutes", "Duration, in minutes", 1, 1, 1440);
        var schedules = Flags.Number("--schedules", "Maximum number of schedules; 0 for no limit", 0, 0, int.MaxValue);
        var trace = Flags.Text("--trace", "File for the trace of the failing schedule", "FILE");
        var command = new Command(
            "simulate",
            "Simulates the platform on models of Kafka and the event store, with crashes at any step, "
                + "and checks every answer.")
        {
            seed, minutes, schedules, trace,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var first = parsed.GetValue(seed) ?? Environment.TickCount & 0x3FFFFFFF;
            var most = parsed.GetValue(schedules) is > 0 and var given ? given : int.MaxValue;
            console.WriteLine($"Simulating from seed {first}, on {Environment.ProcessorCount} threads.");
            var printed = 0d;
            var summary = await Task.Run(() => Simulator.Simulate(
                first, most, TimeSpan.FromMinutes(parsed.GetValue(minutes)), Environment.ProcessorCount,
                soFar =>
                {
                    if (soFar.Took.TotalSeconds - printed >= ProgressSeconds)
                    {
                        printed = soFar.Took.TotalSeconds;
                        console.WriteLine(Line(soFar));
                    }
                },
                cancellationToken), CancellationToken.None);
            console.WriteLine(Line(summary));
            return summary.Failure is { } failure ? await ReportAsync(console, failure, parsed.GetValue(trace))
                : summary.Took >= TimeSpan.FromMinutes(LongMinutes) ? ReportMissing(console)
                : 0;
        });
    }

    private static int ReportMissing(IAnsiConsole console)
    {
        var missing = Simulator.PointsMissing;
        foreach (var point in missing)
        {
            console.WriteLine($"No run has reached this: {point}.");
        }
        return missing.Count == 0 ? 0 : 1;
    }

    private static async Task<int> ReportAsync(IAnsiConsole console, SimulationFailure failure, string? file)
    {
        console.WriteLine($"Seed {failure.Seed} fails: {failure.What}");
        console.WriteLine("The shortest failing schedule:");
        console.WriteLine("  " + failure.Settings);
        foreach (var line in failure.Schedule)
        {
            console.WriteLine("  " + line);
        }
        console.WriteLine("  " + failure.Shortest);
        console.WriteLine($"To reproduce: ./billing simulate --seed {failure.Seed} --schedules 1");
        if (file is not null)
        {
            await File.WriteAllTextAsync(file, failure.Trace);
            console.WriteLine("Trace: " + file);
        }
        return 1;
    }

    private static string Line(SimulationSummary summary)
    {
        var minutes = Math.Max(summary.Took.TotalMinutes, 1e-9);
        return $"{summary.Schedules:N0} schedules, {summary.Simulated.TotalHours:N1} simulated hours, "
            + $"{summary.Steps:N0} steps in {summary.Took.TotalSeconds:0} s: {summary.Schedules / minutes:N0} "
            + $"schedules and {summary.Simulated.TotalHours / minutes:N0} simulated hours per minute.";
    }
}
