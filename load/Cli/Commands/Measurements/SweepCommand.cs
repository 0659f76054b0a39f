using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Driver;
using Billing.Measuring.Experiments.Sweeps;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing sweep static|dynamic</c>.</summary>
internal static class SweepCommand
{
    private static readonly string[] Protocols = ["unary", "stream", "rest"];

    public static Command Create(IAnsiConsole console) =>
        new("sweep", "Measures connections x requests in flight over gRPC calls, gRPC streams and REST.")
        {
            Mode(
                console, "static", isDynamic: false, connections: 8, inFlight: 32,
                during: 10, "Measures one configuration."),
            Mode(
                console, "dynamic", isDynamic: true, connections: 2048, inFlight: 128, during: 3,
                "Searches for the best configuration: doubles connections and requests in flight until the throughput "
                    + "stops growing."),
        };

    private static Command Mode(
        IAnsiConsole console, string name, bool isDynamic, int connections,
        int inFlight, int during, string description)
    {
        var system = new SystemFlags();
        var atMost = isDynamic ? ", at most" : "";
        var connectionsOption = Flags.Number(
            "--connections", "Connections of each worker" + atMost, connections, 1, 10_000);
        var inFlightOption = Flags.Number(
            "--in-flight", "Requests in flight on each connection" + atMost, inFlight, 1, 1000);
        var workers = Flags.Number("--workers", "Worker processes", 1, 1, 64);
        var amount = Flags.Number(
            "--amount", "Requests of each worker after which a measurement ends early; 0 for no limit",
            0, 0, int.MaxValue);
        var duringOption = DurationFlag.During("Duration of each measurement", TimeSpan.FromSeconds(during));
        var warmUp = DurationFlag.WarmUp(
            "Duration of the warm-up before each measurement", TimeSpan.FromSeconds(isDynamic ? 1 : 3));
        var balances = Flags.Number(
            "--balance-percent",
            "Percentage of requests that are balance checks; streams carry payments only", 0, 0, 100);
        var bound = Flags.Number(
            "--latency-bound",
            "Latency bound for the best configuration: maximum 99th percentile, in ms", 100, 1, 60_000);
        var protocols = ListFlags.Names("--protocols", "Protocols to measure, in turn", Protocols);
        var command = new Command(name, description)
        {
            connectionsOption, inFlightOption, workers, amount, duringOption, warmUp, balances, bound, protocols,
        };
        system.AddTo(command);
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(() => new Sweep(
            new SweepOptions
            {
                IsDynamic = isDynamic,
                Connections = parsed.GetValue(connectionsOption),
                InFlight = parsed.GetValue(inFlightOption),
                Workers = parsed.GetValue(workers),
                Amount = parsed.GetValue(amount),
                During = parsed.GetValue(duringOption),
                WarmUp = parsed.GetValue(warmUp),
                BalancePercent = parsed.GetValue(balances),
                LatencyBoundMs = parsed.GetValue(bound),
                Protocols = [.. parsed.GetRequiredValue(protocols).Select(Enum<LoadProtocol>)],
                Subject = system.Read(parsed, Sweep.Kind, TimeProvider.System),
            },
            console, TimeProvider.System).RunAsync(cancellationToken)));
        return command;
    }

    private static T Enum<T>(string name)
        where T : struct, Enum => System.Enum.Parse<T>(name, ignoreCase: true);
}
