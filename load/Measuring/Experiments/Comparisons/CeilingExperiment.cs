using System.Globalization;
using Billing.Driver;
using Billing.LocalStack;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>What the platform costs beyond the calls: its whole path and a plain gRPC echo under the same loads from
/// the same drivers.</summary>
internal static class CeilingExperiment
{
    private const string Calls = "Calls in flight";
    private const string Bursts = "Bursts";
    private const int Clients = 3;
    private const int WarmUp = 1000;

    public static Experiment Plan(
        int size, int burst, IReadOnlyList<int> inFlight, int rounds, TimeSpan during,
        TimeSpan warmUp, IAnsiConsole console) => new()
        {
            Kind = "compare-ceiling",
            Title = "The whole path compared with a plain gRPC echo",
            Facts =
        [
            new Fact(
                "Sides",
                $"{size} proxies with the platform behind them (proxy, Kafka, backend, PostgreSQL, Kafka, proxy), "
                    + $"and {size} gRPC servers that answer at once"),
        ],
            Sections =
        [
            new SectionPlan(Calls, "Load", Figure.PerSecond, Figure.P50Ms, Figure.P99Ms, Figure.Failed)
            {
                Compared = Figure.PerSecond,
            },
            new SectionPlan(
                Bursts, "Load", Figure.PerSecond, Figure.DurationS, Figure.ShortestS, Figure.LongestS, Figure.Failed)
            {
                Compared = Figure.PerSecond,
            },
        ],
            Parts =
        [
            new Part(
                [
                    EchoSide.Plan("echo", size),
                    StackSide.Plan(
                        "whole path",
                        new StackOptions { Proxies = size, PaymentBackends = size, BalanceBackends = size }, console),
                ],
                [
                    .. inFlight.Select(callers =>
                        Case.Of(Calls, string.Create(CultureInfo.InvariantCulture, $"{callers} in flight"), new LoadSpec
                        {
                            Addresses = [],
                            Protocol = LoadProtocol.Unary,
                            Connections = Math.Min(callers, size),
                            WarmUp = new LoadShape.Closed(callers, warmUp.TotalSeconds),
                            Shape = new LoadShape.Closed(callers, during.TotalSeconds),
                        })),
                    Case.Of(
                        Bursts, string.Create(CultureInfo.InvariantCulture, $"{Clients} x {burst} at once"),
                        new LoadSpec
                        {
                            Addresses = [],
                            Shape = new LoadShape.Burst(burst),
                            WarmUp = LoadShape.WarmUpOf(WarmUp),
                            DeadlineS = 120,
                        },
                        Clients),
                ],
                rounds),
        ],
        };
}
