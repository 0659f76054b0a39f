using System.CommandLine;
using System.Globalization;
using Billing.LocalStack.Kafka;
using Billing.Measuring;
using Billing.Misuse;
using Billing.Misuse.Attacks;
using Billing.Misuse.Watching;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary><c>./billing misuse</c>.</summary>
internal static class MisuseCommand
{
    private const double MinutesByDefault = 60;

    public static Command Create(IAnsiConsole console)
    {
        var seed = Flags.Number(
            "--seed", "Seed of the order of the shapes, and of what each leaves open", 1, 0, int.MaxValue);
        var minutes = Flags.Decimal(
            "--minutes",
            $"Minutes after which no further shape is begun, {MinutesByDefault} by default; the two that once ended a "
                + "proxy are always tried",
            0.1, 1440);
        var shape = Flags.Text(
            "--shape",
            "Only this shape, such as body-unfinished/grpc-h2c/valid/20x1000, or all of an attack, such as "
                + "body-unfinished",
            "NAME")
            .Refuse(name => Shapes.Named(name).Count > 0
                ? null
                : $"--shape: there is no shape '{name}'; the attacks are "
                    + $"{string.Join(", ", Catalogue.All.Select(attack => attack.Name))}.");
        var report = Flags.Text("--report", "File for the table, in markdown", "FILE");
        return new Command(
            "misuse",
            "Starts a stack whose services have the limits of the units that are shipped, lets hostile callers loose "
                + "on its proxies while others pay, and says what it did to memory and to the others.")
        {
            minutes, seed, shape, report,
        }.Does((parsed, cancellationToken) => RunAsync(
            MisuseOptions.Of(
                parsed.GetValue(seed), TimeSpan.FromMinutes(parsed.GetValue(minutes) ?? MinutesByDefault),
                parsed.GetValue(shape)),
            parsed.GetValue(report), console, cancellationToken));
    }

    private static async Task<int> RunAsync(
        MisuseOptions options, string? report, IAnsiConsole console, CancellationToken cancellationToken)
    {
        KafkaPrograms.Require("misuse needs services of its own");
        console.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"Seed {options.Seed}, {options.Shapes.Count} shapes"));
        await using var stack = await LimitedStack.StartAsync(
            new Progress<string>(line => console.WriteLine(line)), cancellationToken);
        if (stack.Unlimited is { } unlimited)
        {
            console.WriteLine($"The kernel does not limit the memory of the services: {unlimited}");
        }
        await using var run = new MisuseRun(stack, options, TimeProvider.System, line => console.WriteLine(line));
        var trials = await run.RunAsync(cancellationToken);
        if (report is not null)
        {
            var machine = Machine.This();
            await File.WriteAllTextAsync(
                report,
                MisuseTable.Markdown(
                    trials, options, $"{machine.Cores} cores of {machine.Processor}", stack.Unlimited),
                cancellationToken);
        }
        Print(console, trials);
        var wrong = trials.Count(trial => trial.Wrong.Count > 0);
        console.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"{trials.Count} shapes tried, {wrong} did harm"));
        return wrong == 0 ? 0 : 1;
    }

    private static void Print(IAnsiConsole console, IReadOnlyList<Trial> trials)
    {
        var table = new Table().Border(TableBorder.Rounded).AddColumns([.. MisuseTable.Columns]);
        foreach (var trial in trials)
        {
            table.AddRow([.. MisuseTable.Cells(trial)]);
        }
        console.Write(table);
    }
}
