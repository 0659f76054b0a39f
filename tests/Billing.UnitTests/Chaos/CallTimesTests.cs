using Billing.Chaos;

namespace Billing.UnitTests.Chaos;

public sealed class CallTimesTests
{
    [Fact]
    public void The_longest_call_of_each_window_counts_with_its_whole_duration()
    {
        var calls = new CallTimes();
        calls.Add(8, 14, "started before the first window");
        calls.Add(15, 18, "shorter");
        calls.Add(25, 29, "in the second");

        Assert.Equal([6, 4, 0], calls.LongestOf([(10, 20), (20, 30), (30, 40)]));
    }

    [Fact]
    public void A_call_belongs_to_the_window_with_which_it_overlaps_most()
    {
        var calls = new CallTimes();
        calls.Add(9, 28, "mostly in the second");

        Assert.Equal([0, 19], calls.LongestOf([(0, 12), (12, 30)]));
    }

    [Fact]
    public void A_call_outside_every_window_belongs_to_none()
    {
        var calls = new CallTimes();
        calls.Add(1, 2, "early");
        calls.Add(50, 90, "late");

        Assert.Equal([0], calls.LongestOf([(10, 20)]));
    }

    [Fact]
    public void The_slowest_calls_are_returned_first()
    {
        var calls = new CallTimes();
        calls.Add(0, 1, "a");
        calls.Add(0, 3, "b");
        calls.Add(0, 2, "c");

        Assert.Equal(["b", "c"], calls.Slowest(2).Select(c => c.What));
    }
}
