using System.CommandLine;
using System.Globalization;
using Billing.Measuring.Experiments.Comparisons;
using Billing.Measuring.Experiments.Echo;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing compare rpc</c>, and the servers that it starts.</summary>
internal static class CompareRpcCommand
{
    private const int NumberMax = 100_000;

    public static Command Create(IAnsiConsole console)
    {
        var quick = new Option<bool>("--quick") { Description = "A small grid with few runs, for a first impression" };
        var full = new Option<bool>("--full")
        {
            Description = "Threads in steps of 100, requests in steps of 200, ten runs each: takes hours",
        };
        var threads = ListFlags.Numbers("--threads", "Numbers of concurrent callers", [], 1, NumberMax);
        var requests = ListFlags.Numbers("--requests", "Numbers of requests of each caller", [], 1, NumberMax);
        var runs = new Option<int?>("--runs")
        {
            Description = "Runs of each side per configuration, of which the first is discarded: 2 to 1000",
            HelpName = "N",
        };
        runs.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0
                && int.TryParse(result.Tokens[0].Value, CultureInfo.InvariantCulture, out var value)
                && value is < 2 or > 1_000)
            {
                result.AddError(
                    "--runs must be between 2 and 1000, because the first is discarded; "
                    + $"it is {result.Tokens[0].Value}.");
            }
        });
        var connections = Flags.Number(
            "--connections", "Connections of rpcx and of grpc each, shared by the callers", 1, 1, 1000);
        var warmUp = Flags.Number(
            "--warm-up", "Warm-up requests of each of 100 callers before a measurement",
            RpcExperiment.Grid.Default.WarmUp, 0, NumberMax);
        return CompareCommand.Running(
            new Command("rpc", "RPCX compared with gRPC and REST, as in the paper: a grid of callers and requests.")
            {
                quick, full, threads, requests, runs, connections, warmUp,
            },
            console, needsKafka: false,
            parsed =>
            {
                var preset = parsed.GetValue(full) ? RpcExperiment.Grid.Full
                    : parsed.GetValue(quick) ? RpcExperiment.Grid.Quick
                    : RpcExperiment.Grid.Default;
                return RpcExperiment.Plan(preset with
                {
                    Threads = Given(parsed.GetValue(threads)) ?? preset.Threads,
                    Requests = Given(parsed.GetValue(requests)) ?? preset.Requests,
                    Rounds = parsed.GetValue(runs) - 1 ?? preset.Rounds,
                    Connections = parsed.GetValue(connections),
                    WarmUp = parsed.GetValue(warmUp),
                });
            });
    }

    /// <summary>Creates the hidden command that runs a server of the comparison, which the
    /// comparison starts itself.</summary>
    public static Command CreateServer()
    {
        var protocol = Flags.Choice("--protocol", "Protocol", [.. Protocols.All]);
        var port = Flags.Number("--port", "Port of the loopback interface", 0, 0, ushort.MaxValue);
        var dispatch = Flags.Choice(
            "--dispatch", "Where RPCX calls are processed", EchoServer.InlineDispatch, EchoServer.PoolDispatch);
        var command = new Command("serve-echo", "Answers payments without a backend.") { protocol, port, dispatch };
        command.Hidden = true;
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(
            () => EchoServer.RunAsync(
                parsed.GetRequiredValue(protocol), parsed.GetValue(port),
                parsed.GetRequiredValue(dispatch), cancellationToken)));
        return command;
    }

    private static int[]? Given(int[]? numbers) => numbers is { Length: > 0 } ? [.. numbers.Distinct().Order()] : null;
}
