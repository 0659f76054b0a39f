using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.Measuring.Comparing.Ceiling;
using Billing.Measuring.Comparing.Cost;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Comparing.Overload;
using Billing.Measuring.Comparing.Paper;
using Billing.Measuring.Comparing.Scale;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing compare ...</c>.</summary>
internal static class CompareCommand
{
    public static Command Create(IAnsiConsole console) => new("compare", "Measures two or more variants in turn in one session, and compares them with the papers' figures.")
    {
        Paper(console), Eda(console), CompareRpcCommand.Create(console), Scale(console), Ceiling(console), Overload(console), Cost(console),
    };

    // Without Kafka, on the embedded transport, the results would not be what the command claims to measure.
    private static void ThroughKafka(Command command, Func<ParseResult, CancellationToken, Task<int>> run) =>
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(() =>
        {
            KafkaPrograms.Require($"compare {command.Name} measures the path through Kafka");
            return run(parsed, cancellationToken);
        }));

    private static Command Paper(IAnsiConsole console)
    {
        var requests = ListFlags.Numbers("--requests", "Payments that each of the three clients sends at once", [.. PaperFigures.Requests], 1, 1_000_000);
        var rounds = Rounds(3);
        var warmUp = Flags.Number("--warm-up", "Payments that each client sends before each burst, not measured", 1000, 0, 1_000_000);
        var brokers = Flags.Brokers(1);
        var folder = MeasurementFlags.Folder();
        var command = new Command("paper", "The billing prototype's two tables: bursts on one and three backends, without and with jitter.")
        {
            requests, rounds, warmUp, brokers, folder,
        };
        ThroughKafka(command, (parsed, cancellationToken) => new PaperComparison(
            new PaperOptions
            {
                Stack = new StackOptions { Brokers = parsed.GetValue(brokers) },
                Requests = parsed.GetRequiredValue(requests),
                Rounds = parsed.GetValue(rounds),
                WarmUp = parsed.GetValue(warmUp),
            },
            MeasurementFlags.Measurement(parsed, folder, PaperResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Ceiling(IAnsiConsole console)
    {
        var burst = Flags.Number("--burst", "Payments that each of three clients sends at once", 25_000, 1, 1_000_000);
        var inFlight = ListFlags.Numbers("--in-flight", "Numbers of payments in flight in the closed loops, measured in turn", [1, 200, 1000], 1, 10_000);
        var rounds = Rounds(3);
        var during = DurationFlag.During("Duration of each closed loop", TimeSpan.FromSeconds(8));
        var warmUp = DurationFlag.WarmUp("Duration of the warm-up before each closed loop", TimeSpan.FromSeconds(2));
        var size = Size();
        var folder = MeasurementFlags.Folder();
        var command = new Command("ceiling", "The whole path of a payment compared with plain gRPC echo servers in place of the proxies.")
        {
            burst, inFlight, rounds, during, warmUp, size, folder,
        };
        ThroughKafka(command, (parsed, cancellationToken) => new CeilingComparison(
            new CeilingOptions
            {
                Stack = new StackOptions
                {
                    Proxies = parsed.GetValue(size),
                    PaymentBackends = parsed.GetValue(size),
                    BalanceBackends = parsed.GetValue(size),
                },
                Burst = parsed.GetValue(burst),
                InFlight = parsed.GetRequiredValue(inFlight),
                Rounds = parsed.GetValue(rounds),
                During = parsed.GetValue(during),
                WarmUp = parsed.GetValue(warmUp),
            },
            MeasurementFlags.Measurement(parsed, folder, CeilingResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Scale(IAnsiConsole console)
    {
        var backends = ListFlags.Numbers("--backends", "Numbers of payment backends", [1, 2, 4, 8], 1, 64);
        var replicas = ListFlags.Numbers("--replicas", "Numbers of balance replicas", [1, 2, 4, 8, 12], 1, 64);
        var rounds = Rounds(5);
        var during = DurationFlag.During("Duration of each measurement", TimeSpan.FromSeconds(6));
        var folder = MeasurementFlags.Folder();
        var command = new Command("scale", "Throughput and latency by the number of backends and replicas, and the cost of each stage.")
        {
            backends, replicas, rounds, during, folder,
        };
        ThroughKafka(command, (parsed, cancellationToken) => new ScaleComparison(
            new ScaleOptions
            {
                Backends = [.. parsed.GetRequiredValue(backends).Distinct().Order()],
                Replicas = [.. parsed.GetRequiredValue(replicas).Distinct().Order()],
                Rounds = parsed.GetValue(rounds),
                During = parsed.GetValue(during),
                Work = ScaleWork.Default,
            },
            MeasurementFlags.Measurement(parsed, folder, ScaleResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Cost(IAnsiConsole console)
    {
        var inFlight = Flags.Number("--in-flight", "Payments in flight in the closed loop", 200, 1, 10_000);
        var rounds = Rounds(5);
        var during = DurationFlag.During("Duration of each measurement", TimeSpan.FromSeconds(8));
        var folder = MeasurementFlags.Folder();
        var command = new Command("cost", "The cost of TLS, tokens, metrics and traces: the same platform with and without them.") { inFlight, rounds, during, folder };
        ThroughKafka(command, (parsed, cancellationToken) => new CostComparison(
            new CostOptions { InFlight = parsed.GetValue(inFlight), Rounds = parsed.GetValue(rounds), During = parsed.GetValue(during) },
            MeasurementFlags.Measurement(parsed, folder, CostResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Overload(IAnsiConsole console)
    {
        var times = Flags.Number("--times", "Offered load, as a multiple of the platform's capacity", 10, 2, 100);
        var during = DurationFlag.During("Duration of the overload", TimeSpan.FromSeconds(60));
        var folder = MeasurementFlags.Folder();
        var command = new Command("overload", "Load above the platform's capacity: the answers to admitted and to rejected requests, before, during and after.") { times, during, folder };
        ThroughKafka(command, (parsed, cancellationToken) => new OverloadComparison(
            new OverloadOptions { Times = parsed.GetValue(times), During = parsed.GetValue(during) },
            MeasurementFlags.Measurement(parsed, folder, OverloadResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Eda(IAnsiConsole console)
    {
        var protocol = Flags.Choice("--protocol", "Protocol of the side with direct calls", "grpc", "rpcx", "rest");
        var ramps = ListFlags.Numbers("--ramps", "Numbers of requests that are ramped up within one second", [100, 200, 300, 400, 500], 1, 100_000);
        var rounds = Rounds(5);
        var rate = Flags.Number("--rate", "Requests per second of the long run, and while a backend is killed", 500, 1, 100_000);
        var during = DurationFlag.During("Duration of the long run", TimeSpan.FromSeconds(20));
        var overload = Flags.Number("--overload-rate", "Requests per second of the overload", 15_000, 1, 1_000_000);
        var size = Size();
        var folder = MeasurementFlags.Folder();
        var command = new Command("eda", "The same services through Kafka and by direct calls: response time, errors and CPU, also under overload and while a backend is killed.")
        {
            protocol, ramps, rounds, rate, during, overload, size, folder,
        };
        ThroughKafka(command, (parsed, cancellationToken) => new EdaComparison(
            new EdaOptions
            {
                Protocol = parsed.GetRequiredValue(protocol),
                Ramps = parsed.GetRequiredValue(ramps),
                Rounds = parsed.GetValue(rounds),
                Rate = parsed.GetValue(rate),
                During = parsed.GetValue(during),
                OverloadRate = parsed.GetValue(overload),
                Size = parsed.GetValue(size),
            },
            MeasurementFlags.Measurement(parsed, folder, EdaResult.Format.Kind, console), console, TimeProvider.System).RunAsync(cancellationToken));
        return command;
    }

    private static Option<int> Size() => Flags.Number("--size", "Number of proxies, and of backends, of each side", 3, 1, 20);

    private static Option<int> Rounds(int fallback) =>
        Flags.Number("--rounds", "Number of measured rounds; one more is run first and discarded", fallback, 1, 100);
}
