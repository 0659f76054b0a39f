using System.CommandLine;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.Measuring.Comparing.Ceiling;
using Billing.Measuring.Comparing.Cost;
using Billing.Measuring.Comparing.Eda;
using Billing.Measuring.Comparing.Overload;
using Billing.Measuring.Comparing.Paper;
using Billing.Measuring.Comparing.Scale;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary><c>./billing compare ...</c>.</summary>
internal static class CompareCommand
{
    public static Command Create(IAnsiConsole console) => new("compare", "Measures two or more sides in turn in one sitting, beside the papers' figures.")
    {
        Paper(console), Eda(console), CompareRpcCommand.Create(console), Scale(console), Ceiling(console), Overload(console), Cost(console),
    };

    // Over the embedded transport it would measure something else than it says.
    private static void ThroughKafka(Command command, Func<ParseResult, CancellationToken, Task<int>> run) =>
        command.SetAction((parsed, cancellationToken) => BillingCommand.GuardedAsync(() =>
        {
            KafkaPrograms.Require($"compare {command.Name} measures the way through Kafka");
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
        var inFlight = ListFlags.Numbers("--in-flight", "Payments under way in the closed loops, in turn", [1, 200, 1000], 1, 10_000);
        var rounds = Rounds(3);
        var during = DurationFlag.During("How long each closed loop takes", TimeSpan.FromSeconds(8));
        var warmUp = DurationFlag.WarmUp("Load before each closed loop", TimeSpan.FromSeconds(2));
        var size = Size();
        var folder = MeasurementFlags.Folder();
        var command = new Command("ceiling", "The whole path against a plain gRPC echo in the same shape.")
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
        var during = DurationFlag.During("How long each measurement takes", TimeSpan.FromSeconds(6));
        var folder = MeasurementFlags.Folder();
        var command = new Command("scale", "Throughput and latency against the number of backends and replicas, and what each stage costs.")
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
        var inFlight = Flags.Number("--in-flight", "Payments under way in the closed loop", 200, 1, 10_000);
        var rounds = Rounds(5);
        var during = DurationFlag.During("How long each measurement takes", TimeSpan.FromSeconds(8));
        var folder = MeasurementFlags.Folder();
        var command = new Command("cost", "What TLS, tokens, metrics and traces cost: the same platform with and without them.") { inFlight, rounds, during, folder };
        ThroughKafka(command, (parsed, cancellationToken) => new CostComparison(
            new CostOptions { InFlight = parsed.GetValue(inFlight), Rounds = parsed.GetValue(rounds), During = parsed.GetValue(during) },
            MeasurementFlags.Measurement(parsed, folder, CostResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Overload(IAnsiConsole console)
    {
        var times = Flags.Number("--times", "How many times its capacity the platform is offered", 10, 2, 100);
        var during = DurationFlag.During("How long the overload lasts", TimeSpan.FromSeconds(60));
        var folder = MeasurementFlags.Folder();
        var command = new Command("overload", "More than the platform can do: what those get who are let in, and what the others, before, during and after.") { times, during, folder };
        ThroughKafka(command, (parsed, cancellationToken) => new OverloadComparison(
            new OverloadOptions { Times = parsed.GetValue(times), During = parsed.GetValue(during) },
            MeasurementFlags.Measurement(parsed, folder, OverloadResult.Format.Kind, console), console).RunAsync(cancellationToken));
        return command;
    }

    private static Command Eda(IAnsiConsole console)
    {
        var protocol = Flags.Choice("--protocol", "How the direct side's proxies call its backends", "grpc", "rpcx", "rest");
        var ramps = ListFlags.Numbers("--ramps", "Numbers of requests that are ramped up within a second", [100, 200, 300, 400, 500], 1, 100_000);
        var rounds = Rounds(5);
        var rate = Flags.Number("--rate", "Requests per second of the long run, and while a backend is killed", 500, 1, 100_000);
        var during = DurationFlag.During("How long the long run takes", TimeSpan.FromSeconds(20));
        var overload = Flags.Number("--overload-rate", "Requests per second of the overload", 15_000, 1, 1_000_000);
        var size = Size();
        var folder = MeasurementFlags.Folder();
        var command = new Command("eda", "The same services through Kafka and by direct calls: response time, errors and CPU; also overloaded, and with a backend killed.")
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

    private static Option<int> Size() => Flags.Number("--size", "Proxies, and backends, of each side", 3, 1, 20);

    private static Option<int> Rounds(int fallback) =>
        Flags.Number("--rounds", "Rounds that count; one more is run before them and dropped", fallback, 1, 100);
}
