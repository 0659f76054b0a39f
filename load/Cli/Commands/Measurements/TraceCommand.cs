using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Measuring.Tracing;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing trace</c>.</summary>
internal static class TraceCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var system = new SystemFlags("trace.csv, result.json and report.html", usesEventStore: true);
        var rate = Flags.Number("--rate", "Payments per second, sent without waiting for answers", 200, 1, 100_000);
        var during = DurationFlag.During("Duration of the load", TimeSpan.FromSeconds(30));
        var requests = Flags.Number(
            "--requests", "Number of payments; 0 for the rate times the duration", 0, 0, 10_000_000);
        var connections = Flags.Number("--connections", "HTTP/2 connections that share the payments", 4, 1, 1000);
        var warmUp = Flags.Number("--warm-up", "Warm-up payments, not traced", 500, 0, 1_000_000);
        var accounts = Flags.Number("--accounts", "Accounts of each payment type", 2500, 1, 10_000_000);
        var seed = Flags.Number("--seed", "Seed of the accounts and amounts", 1, 0, int.MaxValue);
        var command = new Command(
            "trace",
            "Sends payments at a constant rate and shows the time of each step of each payment, from the client to the "
                + "event store and back.")
        {
            rate, during, requests, connections, warmUp, accounts, seed,
        };
        system.AddTo(command);
        command.SetAction((parsed, cancellationToken) =>
        {
            var number = parsed.GetValue(requests);
            var options = new TraceOptions
            {
                Subject = system.Read(parsed, TraceResult.Format.Kind, TimeProvider.System),
                Rate = parsed.GetValue(rate),
                Requests = number > 0
                    ? number
                    : (int)Math.Min(10_000_000, parsed.GetValue(rate) * parsed.GetValue(during).TotalSeconds),
                Connections = parsed.GetValue(connections),
                WarmUp = parsed.GetValue(warmUp),
                Accounts = parsed.GetValue(accounts),
                Seed = parsed.GetValue(seed),
            };
            return Guarded.RunAsync(
                () => new TraceRun(options, console, TimeProvider.System).RunAsync(cancellationToken));
        });
        return command;
    }
}
