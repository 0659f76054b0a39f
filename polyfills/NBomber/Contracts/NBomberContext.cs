using NBomber.Contracts.Stats;

namespace NBomber.Contracts;

public sealed record NBomberContext
{
    internal NBomberContext()
    {
    }

    internal IReadOnlyList<ScenarioProps> Scenarios { get; init; } = [];

    internal string TestSuite { get; init; } = "nbomber_default_test_suite_name";

    internal string TestName { get; init; } = "nbomber_default_test_name";

    internal string? ReportFileName { get; init; }

    internal string? ReportFolder { get; init; }

    internal IReadOnlyList<ReportFormat> ReportFormats { get; init; } =
        [ReportFormat.Txt, ReportFormat.Html, ReportFormat.Csv, ReportFormat.Md];

    internal TimeSpan ReportingInterval { get; init; } = TimeSpan.FromSeconds(5);
}
