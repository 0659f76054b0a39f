using Billing.Auditing;

namespace Billing.UnitTests.Auditing;

public sealed class FindingsTests
{
    [Fact]
    public void All_findings_are_counted_and_the_first_messages_are_kept()
    {
        var findings = new Findings();
        Parallel.For(0, 1000, n => findings.Add($"{n}"));
        Assert.Equal(1000, findings.Count);
        Assert.Equal(Findings.KeptMax, findings.Distinct().Count());
    }
}
