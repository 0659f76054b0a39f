using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.Measuring.Scenarios;
using Billing.Operator.Arguments;
using Billing.ScenarioFiles;

namespace Billing.Cli.Commands.Measurements;

/// <summary>The common options of all load scenarios.</summary>
internal sealed class LoadFlags
{
    private readonly SystemFlags _system = new("txt, csv, html, md and summary.json");
    private readonly Option<int> _accounts = Flags.Number(
        "--accounts", "Number of accounts of each payment type", 2500, 1, 10_000_000);

    private readonly Option<TimeSpan> _warmUp = DurationFlag.WarmUp(
        "Duration of the warm-up, at most that of the measurement", TimeSpan.FromSeconds(5));

    private readonly Option<double?>[] _thresholds =
    [
        Flags.Decimal(
            Threshold.MaxErrorPercent,
            "The run fails if a higher percentage of calls fails; 1 if no threshold is given", 0, 100),
        Flags.Decimal(Threshold.MaxP50Ms, "The run fails if the median latency is higher, in ms", 0, 60_000),
        Flags.Decimal(
            Threshold.MaxP99Ms, "The run fails if the 99th percentile of the latency is higher, in ms", 0, 60_000),
        Flags.Decimal(Threshold.MinRps, "The run fails if fewer calls per second are answered", 0, 1_000_000),
    ];

    public void AddTo(Command command)
    {
        foreach (var option in new Option[] { _warmUp, _accounts }.Concat(_thresholds))
        {
            command.Add(option);
        }
        _system.AddTo(command);
    }

    /// <summary>Returns the plan of a run with the given shape.</summary>
    public LoadPlan Read(ParseResult parsed, string scenario, LoadShape shape, TimeProvider time) => new()
    {
        Scenario = scenario,
        Shape = shape,
        WarmUp = parsed.GetValue(_warmUp),
        Accounts = parsed.GetValue(_accounts),
        Subject = _system.Read(parsed, "load-" + scenario, time),
        Thresholds = ThresholdsOf(parsed) is { Count: > 0 } given ? given : [Threshold.ByDefault],
    };

    private IReadOnlyList<Threshold> ThresholdsOf(ParseResult parsed) =>
        [
            .. _thresholds.Where(t => parsed.GetValue(t) is not null)
                .Select(t => new Threshold(t.Name, parsed.GetValue(t)!.Value)),
        ];
}
