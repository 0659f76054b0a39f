using Billing.Cli.Testing;

namespace Billing.UnitTests.Cli.Testing;

/// <summary>What <c>./billing test</c> reads from the report of a test program.</summary>
public sealed class TestReportTests : IDisposable
{
    private readonly string _file = Path.GetTempFileName();

    public void Dispose() => File.Delete(_file);

    [Fact]
    public void A_failed_test_is_named_with_its_message()
    {
        File.WriteAllText(_file, """
            <assemblies><assembly passed="1" failed="1" skipped="1" errors="0"><collection>
              <test name="Holds.It_stands" type="Holds" time="2" result="Pass" />
              <test name="Holds.It_falls" type="Holds" time="1" result="Fail">
                <failure><message><![CDATA[ Assert.Equal() Failure ]]></message></failure></test>
              <test name="Holds.It_waits" type="Holds" time="0" result="Skip"><reason>no broker</reason></test>
            </collection></assembly></assemblies>
            """);

        var report = TestReport.Read(_file, 1);

        Assert.Equal((1, 1, 1), (report.Passed, report.Failed, report.Skipped));
        Assert.Equal(["Holds.It_falls: Assert.Equal() Failure"], report.Failures);
        Assert.Equal(["  Holds.It_waits [SKIP]: no broker"], report.Notes);
        Assert.Equal(3, report.Classes["Holds"]);
    }

    [Fact]
    public void A_program_that_ends_badly_without_a_report_is_a_failure() =>
        Assert.Equal(1, TestReport.Read(_file, 0).Failed);
}
