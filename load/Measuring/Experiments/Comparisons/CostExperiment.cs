using Billing.Driver;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>The platform without and with TLS and tokens, and without and with telemetry; each side has its own stack.</summary>
internal static class CostExperiment
{
    private const string Section = "Payments";

    private static readonly string[] Programs = ["proxy", "kafka", "payments", "balances", "postgres", "client"];

    public static Experiment Plan(int inFlight, int rounds, TimeSpan during, IAnsiConsole console) => new()
    {
        Kind = "compare-cost",
        Title = "The cost of security and telemetry",
        Facts = [new Fact("Method", $"{inFlight} payments in flight in a closed loop; client is the load tool, whose processor time includes its share of TLS")],
        Sections =
        [
            new SectionPlan(
                Section, "Load",
                [
                    Figure.PerSecond, Figure.P50Ms, Figure.P99Ms, Figure.CpuUs,
                    .. Programs.Select(Figure.CpuOf),
                ])
            {
                Compared = Figure.PerSecond,
            },
        ],
        Parts =
        [
            new Part(
                [
                    SideOf("no security, no telemetry", isSecured: false, isWatched: false, console),
                    SideOf("metrics, logs, and traces of 1 %", isSecured: false, isWatched: true, console),
                    SideOf("TLS and tokens everywhere", isSecured: true, isWatched: false, console),
                    SideOf("both", isSecured: true, isWatched: true, console),
                ],
                [
                    Case.Of(Section, $"{inFlight} in flight", new LoadSpec
                    {
                        Addresses = [],
                        Protocol = LoadProtocol.Unary,
                        Connections = 4,
                        WarmUp = new LoadShape.Closed(inFlight, 3),
                        Shape = new LoadShape.Closed(inFlight, during.TotalSeconds),
                    }),
                ],
                rounds),
        ],
    };

    private static SidePlan SideOf(string name, bool isSecured, bool isWatched, IAnsiConsole console) => new(name, async cancellationToken =>
    {
        var sink = await TelemetrySink.StartAsync();
        var stack = await Starting.StackAsync(
            new StackOptions
            {
                Proxies = 1,
                PaymentBackends = 1,
                BalanceBackends = 1,
                Secured = isSecured,
                Settings = new Dictionary<string, string>(StringComparer.Ordinal)
                {
                    ["Billing__Telemetry__Prometheus"] = isWatched ? "true" : "false",
                    ["Billing__Telemetry__OtlpEndpoint"] = isWatched ? sink.Address : "",
                    ["Billing__Telemetry__OtlpProtocol"] = "http/protobuf",
                    ["Billing__Telemetry__TraceRatio"] = "0.01",
                },
            },
            console, cancellationToken);
        return new StackSide(name, stack, sink);
    });
}
