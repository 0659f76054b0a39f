using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.ScenarioTests.NBomberApi;

/// <summary>The course of a run: its start, its end and its reports.</summary>
[Collection(LoadRuns.Name)]
public sealed class RunningTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_scenario_is_initialized_and_warmed_up_before_its_calls_are_counted_and_reports_have_the_given_name()
    {
        var (isInitialized, early, warm, measured) = (false, 0, 0, 0);
        var folder = Directory.CreateTempSubdirectory("billing-nbomber-");
        try
        {
            var stats = NBomberRunner.RegisterScenarios(Scenario.Create("whole", async context =>
            {
                await Task.Delay(10);
                Interlocked.Add(ref early, isInitialized ? 0 : 1);
                _ = context.ScenarioInfo.ScenarioOperation == ScenarioOperation.WarmUp
                    ? Interlocked.Increment(ref warm)
                    : Interlocked.Increment(ref measured);
                return Response.Ok();
            }).WithInit(async _ =>
            {
                await Task.Yield();
                isInitialized = true;
            }).WithWarmUpDuration(2 * Second).WithLoadSimulations(Simulation.KeepConstant(2, 2 * Second)))
                .WithTestSuite("suite").WithTestName("name").WithReportingInterval(5 * Second)
                .WithReportFolder(folder.FullName).WithReportFileName("figures")
                .WithReportFormats(ReportFormat.Txt, ReportFormat.Csv, ReportFormat.Html, ReportFormat.Md).Run();

            Assert.Equal(0, early);
            Assert.True(warm > 0);
            Assert.Equal(measured, stats.GetScenarioStats("whole").Ok.Request.Count);
            Assert.Equal(
                ["figures.csv", "figures.html", "figures.md", "figures.txt"],
                folder.EnumerateFiles("figures*").Select(f => f.Name).Order(StringComparer.Ordinal));
            // The HTML report needs a serializer that not every build of NBomber has; see polyfills/README.md.
            Assert.All(
                folder.EnumerateFiles("figures*").Where(f => f.Extension != ".html"),
                f => Assert.Contains("whole", File.ReadAllText(f.FullName), StringComparison.Ordinal));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void Too_many_failures_stop_the_run()
    {
        var stats = NBomberRunner.RegisterScenarios(Scenario.Create("failing", async _ =>
        {
            await Task.Delay(5);
            return Response.Fail(statusCode: "NO");
        }).WithoutWarmUp().WithMaxFailCount(10)
            .WithLoadSimulations(Simulation.KeepConstant(2, 10 * Minute))).WithoutReports().Run();

        // Failures are checked once per interval; without the limit, ten minutes would have hundreds of thousands.
        Assert.InRange(stats.GetScenarioStats("failing").Fail.Request.Count, 10, 50_000);
    }

    [Fact]
    public void A_scenario_can_stop_itself_and_others_and_the_counts_are_kept()
    {
        var stats = NBomberRunner.RegisterScenarios(
            Scenario.Create("stopping", async context =>
            {
                await Task.Delay(5);
                if (context.InvocationNumber == 20)
                {
                    context.StopScenario("stopping", "enough");
                    context.StopScenario("endless", "enough");
                }
                return Response.Ok();
            }).WithoutWarmUp().WithLoadSimulations(Simulation.KeepConstant(1, 10 * Minute)),
            Scenario.Create("endless", async _ =>
            {
                await Task.Delay(10);
                return Response.Ok();
            }).WithoutWarmUp().WithLoadSimulations(Simulation.KeepConstant(1, 10 * Minute))).WithoutReports().Run();

        Assert.True(stats.Duration < 5 * Minute);
        Assert.True(stats.GetScenarioStats("stopping").Ok.Request.Count >= 20);
    }

    [Fact]
    public void A_reporting_interval_below_five_seconds_is_rejected() => Assert.ThrowsAny<Exception>(() =>
        NBomberRunner.RegisterScenarios(Quick()).WithReportingInterval(Second).WithoutReports().Run());

    [Fact]
    public void A_warm_up_longer_than_the_scenario_is_rejected() => Assert.ThrowsAny<Exception>(() =>
        NBomberRunner.RegisterScenarios(Quick().WithWarmUpDuration(2 * Second)).WithoutReports().Run());

    [Fact]
    public void A_simulation_shorter_than_a_second_is_rejected() => Assert.ThrowsAny<Exception>(() =>
        NBomberRunner.RegisterScenarios(Quick().WithLoadSimulations(Simulation.KeepConstant(1, Second / 2)))
            .WithoutReports().Run());

    private static ScenarioProps Quick() => Scenario.Create("quick", _ => Task.FromResult<IResponse>(Response.Ok()))
        .WithoutWarmUp().WithLoadSimulations(Simulation.KeepConstant(1, Second));
}
