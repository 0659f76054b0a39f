using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.Domain;

namespace NBomber.CSharp;

public static class NBomberRunner
{
    public static NBomberContext RegisterScenarios(params ScenarioProps[] scenarios) =>
        new() { Scenarios = [.. scenarios] };

    public static NBomberContext WithTestSuite(this NBomberContext context, string testSuite) =>
        context with { TestSuite = testSuite };

    public static NBomberContext WithTestName(this NBomberContext context, string testName) =>
        context with { TestName = testName };

    public static NBomberContext WithReportFileName(this NBomberContext context, string reportFileName) =>
        context with { ReportFileName = reportFileName };

    public static NBomberContext WithReportFolder(this NBomberContext context, string reportFolderPath) =>
        context with { ReportFolder = reportFolderPath };

    public static NBomberContext WithReportFormats(this NBomberContext context, params ReportFormat[] reportFormats) =>
        context with { ReportFormats = [.. reportFormats] };

    public static NBomberContext WithoutReports(this NBomberContext context) => context with { ReportFormats = [] };

    public static NBomberContext WithReportingInterval(this NBomberContext context, TimeSpan interval) =>
        context with { ReportingInterval = interval };

    public static NodeStats Run(this NBomberContext context)
    {
        Validation.RequireValid(context);
        return Task.Run(() => new Session(context, TimeProvider.System).RunAsync()).GetAwaiter().GetResult();
    }
}
