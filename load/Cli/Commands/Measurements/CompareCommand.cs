using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.LocalStack.Kafka;
using Billing.Measuring.Experiments;
using Billing.Measuring.Experiments.Comparisons;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing compare ...</c>.</summary>
internal static class CompareCommand
{
    public static Command Create(IAnsiConsole console) => new(
        "compare", "Measures two or more variants in turn in one session, and compares them with the papers' figures.")
    {
        Paper(console), Eda(console), CompareRpcCommand.Create(console), Scale(console), Ceiling(console),
    };

    /// <summary>Lets a command run the experiment that its options describe.</summary>
    public static Command Running(
        Command command, IAnsiConsole console, bool needsKafka, Func<ParseResult, Experiment> plan)
    {
        var folder = MeasurementFlags.Folder();
        command.Add(folder);
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(() =>
        {
            if (needsKafka)
            {
                // Without Kafka, on the embedded transport, the results would not be what the command
                // claims to measure.
                KafkaPrograms.Require($"compare {command.Name} measures the path through Kafka");
            }
            var experiment = plan(parsed);
            return new ExperimentRunner(
                experiment, MeasurementFlags.Measurement(parsed, folder, experiment.Kind, console), console)
                .RunAsync(cancellationToken);
        }));
        return command;
    }

    private static Command Paper(IAnsiConsole console)
    {
        var requests = ListFlags.Numbers(
            "--requests", "Payments that each of the three clients sends at once",
            [.. PaperExperiment.Requests], 1, 1_000_000);
        var rounds = Rounds();
        var warmUp = Flags.Number(
            "--warm-up", "Payments that each client sends before each warm burst, not measured", 1000, 0, 1_000_000);
        return Running(
            new Command(
                "paper",
                "The billing prototype's two tables: bursts on one and three backends, without and with jitter, "
                    + "cold and warm.") { requests, rounds, warmUp },
            console, needsKafka: true,
            parsed => PaperExperiment.Plan(
                parsed.GetRequiredValue(requests), parsed.GetValue(rounds), parsed.GetValue(warmUp), console));
    }

    private static Command Ceiling(IAnsiConsole console)
    {
        var burst = Flags.Number("--burst", "Payments that each of three clients sends at once", 25_000, 1, 1_000_000);
        var inFlight = ListFlags.Numbers(
            "--in-flight", "Numbers of payments in flight in the closed loops, measured in turn",
            [1, 200, 1000], 1, 10_000);
        var rounds = Rounds();
        var during = DurationFlag.During("Duration of each closed loop", TimeSpan.FromSeconds(8));
        var warmUp = DurationFlag.WarmUp("Duration of the warm-up before each closed loop", TimeSpan.FromSeconds(2));
        var size = Size();
        return Running(
            new Command(
                "ceiling", "The whole path of a payment compared with plain gRPC echo servers in place of the proxies.")
            {
                burst, inFlight, rounds, during, warmUp, size,
            },
            console, needsKafka: true,
            parsed => CeilingExperiment.Plan(
                parsed.GetValue(size), parsed.GetValue(burst), parsed.GetRequiredValue(inFlight),
                parsed.GetValue(rounds), parsed.GetValue(during), parsed.GetValue(warmUp), console));
    }

    private static Command Scale(IAnsiConsole console)
    {
        var backends = ListFlags.Numbers("--backends", "Numbers of payment backends", [1, 2, 4, 8], 1, 64);
        var replicas = ListFlags.Numbers("--replicas", "Numbers of balance replicas", [1, 2, 4, 8, 12], 1, 64);
        var databases = ListFlags.Numbers(
            "--databases", "Numbers of databases, over which the accounts are spread", [1, 2, 4], 1, 16);
        var rounds = Rounds();
        var during = DurationFlag.During("Duration of each measurement", TimeSpan.FromSeconds(8));
        var rate = Flags.Number(
            "--write-rate", "Payments per second for every number of payment backends", 4000, 1, 100_000);
        var thesis = new Option<bool>("--thesis")
        {
            Description =
                "Loads that rise for 5 minutes and stay for 10, of which the last 5 are measured: takes hours",
        };
        return Running(
            new Command(
                "scale",
                "Throughput and latency by the number of backends, replicas and databases, and the cost of each stage.")
            {
                backends, replicas, databases, rounds, during, rate, thesis,
            },
            console, needsKafka: true,
            parsed => ScaleExperiment.Plan(
                new ScaleExperiment.Options(
                    [.. parsed.GetRequiredValue(backends).Distinct().Order()],
                    [.. parsed.GetRequiredValue(replicas).Distinct().Order()],
                    [.. parsed.GetRequiredValue(databases).Distinct().Order()], parsed.GetValue(rounds),
                    parsed.GetValue(during), parsed.GetValue(rate), parsed.GetValue(thesis)),
                console));
    }

    private static Command Eda(IAnsiConsole console)
    {
        var protocol = Flags.Choice("--protocol", "Protocol of the side with direct calls", "grpc", "rpcx");
        var ramps = ListFlags.Numbers(
            "--ramps", "Numbers of requests that are ramped up within one second",
            [100, 200, 300, 400, 500], 1, 100_000);
        var study = new Option<bool>("--study-rates")
        {
            Description = "Ramps of 100 to 500 requests take as long as the study's, 200 to 16,000 s: takes days",
        };
        var rounds = Rounds();
        var rate = Flags.Number(
            "--rate", "Requests per second of the long run, and while a backend is killed", 500, 1, 100_000);
        var during = DurationFlag.During("Duration of the long run", TimeSpan.FromSeconds(20));
        var overload = Flags.Number("--overload-rate", "Requests per second of the overload", 15_000, 1, 1_000_000);
        var size = Size();
        return Running(
            new Command(
                "eda",
                "The same services through Kafka and by direct calls: "
                    + "response time, errors and CPU, also under overload and while a backend is killed.")
            {
                protocol, ramps, study, rounds, rate, during, overload, size,
            },
            console, needsKafka: true,
            parsed => EdaExperiment.Plan(
                new EdaExperiment.Options(
                    parsed.GetRequiredValue(protocol), parsed.GetRequiredValue(ramps), parsed.GetValue(study),
                    parsed.GetValue(rounds), parsed.GetValue(rate), parsed.GetValue(during),
                    parsed.GetValue(overload), parsed.GetValue(size)),
                console));
    }

    private static Option<int> Size() =>
        Flags.Number("--size", "Number of proxies, and of backends, of each side", 3, 1, 20);

    private static Option<int> Rounds() =>
        Flags.Number(
            "--rounds", "Number of measured rounds; one more is run first and discarded; five or more give a verdict",
            Pairs.Fewest, 1, 100);
}
