using System.CommandLine;
using Billing.Chaos;
using Billing.Cli.Arguments;
using Billing.Cli.Commands.Measurements;
using Billing.LocalStack.Processes;
using Billing.Measuring.Soaks;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary><c>./billing chaos</c>.</summary>
internal static class ChaosCommand
{
    private const double MinutesByDefault = 5;

    public static Command Create(IAnsiConsole console)
    {
        var stack = new StackFlags(brokers: 3, jitter: "on", kafkaOnly: true);
        var seed = Flags.Number("--seed", "Seed of the faults and the payments", 1, 0, int.MaxValue);
        var minutes = Flags.Decimal(
            "--minutes",
            $"Duration of the faults, in minutes, {MinutesByDefault} by default: enough for every kind of fault",
            0.1, 1440);
        var rate = Flags.Number("--rate", "Maximum number of payments per second", 300, 1, 100_000);
        var workers = Flags.Number("--workers", "Callers, each with one request at a time", 64, 1, 10_000);
        var power = new Option<bool>("--power-loss")
        {
            Description =
            "Also take the power from all brokers and PostgreSQL at once, as root: what they have not synced is lost"
        };
        var tls = new Option<bool>("--tls")
        {
            Description = "TLS between all programs, and callers that need tokens, with credentials of the stack's own"
        };
        var from = Flags.Text(
            "--from",
            "Folder of another release, made by its own package command: a restart of all services changes over to it, "
                + "and the next one back",
            "FOLDER");
        var report = MeasurementFlags.Report();
        var logs = Flags.Text("--logs", "Folder to copy the logs and the journal to at the end", "FOLDER");
        var command = new Command(
            "chaos",
            "Kills, freezes and restarts parts of its own stack under a load of payments, then audits the event store: "
                + "every payment recorded once, every answer correct.")
        {
            seed, minutes, rate, workers, power, tls, from, report, logs,
        };
        stack.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetValue(power) && stack.HasDatabases(result))
            {
                result.AddError(
                    "--power-loss takes the disk of one PostgreSQL; it cannot be combined with --databases.");
            }
            if (result.GetValue(power) && stack.HasReplicas(result))
            {
                result.AddError(
                    "--power-loss takes the disk of one PostgreSQL; it cannot be combined with --postgres-replicas, "
                    + "with which primary and standby burn.");
            }
        });
        return command.Does((parsed, cancellationToken) => new ChaosRun(
            new ChaosOptions
            {
                Seed = parsed.GetValue(seed),
                Duration = TimeSpan.FromMinutes(parsed.GetValue(minutes) ?? MinutesByDefault),
                Rate = parsed.GetValue(rate),
                Workers = parsed.GetValue(workers),
                Stack = stack.Read(parsed) with
                {
                    Settings = ChaosOptions.ShortJitter,
                    MayLosePower = parsed.GetValue(power),
                    Secured = parsed.GetValue(tls),
                    MayBeSlow = PreloadedLibrary.Missing is null,
                },
            },
            parsed.GetValue(from),
            new ChaosOutput(MeasurementFlags.CommandLine(parsed), parsed.GetValue(report), parsed.GetValue(logs)),
            console, TimeProvider.System).RunAsync(cancellationToken));
    }
}
