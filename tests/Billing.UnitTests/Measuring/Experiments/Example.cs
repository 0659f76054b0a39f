using Billing.Auditing;
using Billing.Measuring;
using Billing.Measuring.Experiments;

namespace Billing.UnitTests.Measuring.Experiments;

/// <summary>Results to test pages with.</summary>
internal static class Example
{
    /// <summary>A machine, and the software on it.</summary>
    public static Machine Machine { get; } = new("Linux", ".NET", 2, 4)
    {
        Software = new MeasuredSoftware(
            null, new Dictionary<string, string>(), null, null, new Dictionary<string, string>()),
    };

    /// <summary>Results of two sides, the second 0.8 to 1.2 times as fast as the first.</summary>
    public static ExperimentResult Result(IReadOnlyList<AuditCounts> audits, int rounds = 5) => new()
    {
        Kind = "compare-scale",
        Run = new RunInfo("./billing compare scale", DateTimeOffset.UnixEpoch, true, Machine),
        Title = "The title",
        Facts = [],
        Source = Sources.Thesis,
        Sections =
        [
            new ResultSection
            {
                Title = "Payments",
                CaseHeading = "Load",
                Columns = [Figure.PerSecond, Figure.P99Ms],
                Compared = Figure.PerSecond,
                Rows =
                [
                    Row("without", Enumerable.Repeat(1000.0, rounds)),
                    Row("with", Enumerable.Range(0, rounds).Select(n => 800.0 + (100 * n))),
                ],
            },
        ],
        Audits = audits,
        HasStore = true,
        IsValid = true,
    };

    private static ResultRow Row(string side, IEnumerable<double> perSecond) => new(
        "200 in flight", side,
        [.. perSecond.Select(value => new Measured(
            new Dictionary<string, double> { [Figure.PerSecond.Id] = value, [Figure.P99Ms.Id] = 12.34 },
            new Dictionary<string, long>()))])
    {
        Published = side == "with"
            ? new Dictionary<string, double> { [Figure.P99Ms.Id] = 474 }
            : new Dictionary<string, double>(),
    };
}
