using NBomber.Contracts;
using NBomber.Contracts.Stats;
using NBomber.CSharp;

namespace Billing.ContractTests.NBomberApi;

/// <summary>How a run goes: its beginning, its scenarios beside one another, and its end.</summary>
[Collection(LoadRuns.Name)]
public class RunningTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Scenarios_run_at_the_same_time()
    {
        var meeting = new CountdownEvent(2);
        var met = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        ScenarioProps Meeting(string name) => Scenario.Create(name, async _ =>
        {
            if (meeting.Signal())
            {
                met.SetResult();
            }
            await met.Task.WaitAsync(Minute);
            return Response.Ok();
        }).WithoutWarmUp().WithLoadSimulations(Simulation.IterationsForConstant(1, 1));

        var stats = NBomberRunner.RegisterScenarios(Meeting("one"), Meeting("other")).WithoutReports().Run();

        Assert.Equal(1, stats.ScenarioStats.Get("one").Ok.Request.Count);
        Assert.Equal(1, stats.ScenarioStats.Get("other").Ok.Request.Count);
    }

    [Fact]
    public void Only_target_scenarios_run()
    {
        var stats = NBomberRunner.RegisterScenarios(Quick("one"), Quick("other")).WithTargetScenarios("other").WithoutReports().Run();

        Assert.Equal(["other"], stats.ScenarioStats.Select(s => s.ScenarioName));
    }

    [Fact]
    public void What_warms_up_is_not_counted()
    {
        var (warm, measured) = (0, 0);

        var stats = NBomberRunner.RegisterScenarios(Scenario.Create("warm", async context =>
        {
            await Task.Delay(10);
            _ = context.ScenarioInfo.ScenarioOperation == ScenarioOperation.WarmUp
                ? Interlocked.Increment(ref warm)
                : Interlocked.Increment(ref measured);
            return Response.Ok();
        }).WithWarmUpDuration(2 * Second).WithLoadSimulations(Simulation.KeepConstant(2, 2 * Second))).WithoutReports().Run();

        Assert.True(warm > 0);
        Assert.True(measured > 0);
        // A call may end after the last figures are taken.
        Assert.InRange(stats.ScenarioStats.Get("warm").Ok.Request.Count, measured - 2, measured);
    }

    [Fact]
    public void A_scenario_is_prepared_before_its_calls_and_cleaned_up_after_them()
    {
        var events = new List<string>();
        var note = new Lock();
        void Note(string what)
        {
            lock (note)
            {
                events.Add(what);
            }
        }

        NBomberRunner.RegisterScenarios(Scenario.Create("life", async _ =>
        {
            await Task.Yield();
            Note("call");
            return Response.Ok();
        }).WithInit(_ =>
        {
            Note("init");
            return Task.CompletedTask;
        }).WithClean(_ =>
        {
            Note("clean");
            return Task.CompletedTask;
        }).WithoutWarmUp().WithLoadSimulations(Simulation.IterationsForConstant(1, 3))).WithoutReports().Run();

        Assert.Equal(["init", "call", "call", "call", "clean"], events);
    }

    [Fact]
    public void Too_many_failures_stop_the_run()
    {
        var stats = NBomberRunner.RegisterScenarios(Scenario.Create("failing", async _ =>
        {
            await Task.Delay(5);
            return Response.Fail(statusCode: "NO");
        }).WithoutWarmUp().WithMaxFailCount(10).WithLoadSimulations(Simulation.KeepConstant(2, 10 * Minute))).WithoutReports().Run();

        Assert.True(stats.Duration < 5 * Minute);
        Assert.True(stats.ScenarioStats.Get("failing").Fail.Request.Count >= 10);
    }

    [Fact]
    public void A_scenario_can_end_the_run()
    {
        var stats = NBomberRunner.RegisterScenarios(
            Scenario.Create("stopping", async context =>
            {
                await Task.Delay(5);
                if (context.InvocationNumber == 20)
                {
                    context.StopCurrentTest("enough");
                }
                return Response.Ok();
            }).WithoutWarmUp().WithLoadSimulations(Simulation.KeepConstant(1, 10 * Minute)),
            Endless("endless")).WithoutReports().Run();

        Assert.True(stats.Duration < 5 * Minute);
        Assert.True(stats.ScenarioStats.Get("stopping").Ok.Request.Count >= 19);
    }

    [Fact]
    public void A_stopped_scenario_leaves_the_others_alone()
    {
        var afterwards = 0;
        var stopped = false;
        var stats = NBomberRunner.RegisterScenarios(
            Endless("endless"),
            Scenario.Create("other", async context =>
            {
                await Task.Delay(10);
                if (Volatile.Read(ref stopped))
                {
                    Interlocked.Increment(ref afterwards);
                }
                if (context.InvocationNumber == 5)
                {
                    context.StopScenario("endless", "not needed");
                    Volatile.Write(ref stopped, true);
                }
                return Response.Ok();
            }).WithoutWarmUp().WithLoadSimulations(Simulation.IterationsForConstant(1, 300))).WithoutReports().Run();

        Assert.True(afterwards >= 290);
        Assert.Equal(300, stats.ScenarioStats.Get("other").Ok.Request.Count);
    }

    [Fact]
    public void Reports_have_the_given_name_in_the_given_folder()
    {
        var folder = Directory.CreateTempSubdirectory("billing-nbomber-");
        try
        {
            var stats = NBomberRunner.RegisterScenarios(Quick("quick"))
                .WithTestSuite("suite").WithTestName("name").WithReportFolder(folder.FullName).WithReportFileName("figures")
                .WithReportFormats(ReportFormat.Txt, ReportFormat.Csv, ReportFormat.Html, ReportFormat.Md).Run();

            Assert.Equal(
                ["figures.csv", "figures.html", "figures.md", "figures.txt"],
                folder.EnumerateFiles("figures*").Select(f => f.Name).Order(StringComparer.Ordinal));
            Assert.All(folder.EnumerateFiles("figures*"), f => Assert.Contains("quick", File.ReadAllText(f.FullName), StringComparison.Ordinal));
            Assert.Equal(("suite", "name"), (stats.TestInfo.TestSuite, stats.TestInfo.TestName));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void A_reporting_interval_under_five_seconds_is_refused() => Assert.ThrowsAny<Exception>(() =>
        NBomberRunner.RegisterScenarios(Quick("quick")).WithReportingInterval(Second).WithoutReports().Run());

    private static ScenarioProps Quick(string name) => Scenario.Create(name, async _ =>
    {
        await Task.Yield();
        return Response.Ok();
    }).WithoutWarmUp().WithLoadSimulations(Simulation.IterationsForConstant(1, 1));

    private static ScenarioProps Endless(string name) => Scenario.Create(name, async _ =>
    {
        await Task.Delay(10);
        return Response.Ok();
    }).WithoutWarmUp().WithLoadSimulations(Simulation.KeepConstant(1, 10 * Minute));
}
