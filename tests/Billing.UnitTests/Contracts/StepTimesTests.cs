using Billing.Contracts;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Contracts;

public sealed class StepTimesTests
{
    [Fact]
    public void Times_are_formatted_with_the_names_of_their_steps_in_order()
    {
        var times = new StepTimes(
            Sent: At(1_769_860_800_000_000), Consumed: At(1_769_860_800_000_420), Returned: At(1_769_860_800_001_000));
        Assert.Equal("sent=1769860800000000;consumed=1769860800000420;returned=1769860800001000", times.ToString());
    }

    [Fact]
    public void Times_are_parsed_as_they_were_formatted()
    {
        var steps =
            from us in Gen.Choose(1, int.MaxValue).ArrayOf(StepTimes.Names.Count)
            from taken in Gen.Choose(1, (1 << StepTimes.Names.Count) - 1)
            select StepTimes.Of(StepTimes.Names.Select((name, i) => (name, us: (taken >> i & 1) * us[i]))
                .ToDictionary(s => s.name, s => (long)s.us));
        steps.Holds(times =>
        {
            Assert.True(StepTimes.TryParse(times.ToString(), out var read));
            Assert.Equal(times, read);
        });
    }

    [Fact]
    public void An_unknown_step_is_skipped()
    {
        Assert.True(StepTimes.TryParse("sent=5;blessed=6;answered=7", out var times));
        Assert.Equal(new StepTimes(Sent: At(5), Answered: At(7)), times);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("sent")]
    [InlineData("sent=")]
    [InlineData("=5")]
    [InlineData("sent=5;")]
    [InlineData("sent=-5")]
    [InlineData("sent=5;received=soon")]
    public void Invalid_texts_are_refused(string? text) => Assert.False(StepTimes.TryParse(text, out _));

    [Theory]
    [InlineData("1", true)]
    [InlineData("1769860800000000", true)]
    [InlineData("253402300799999999", true)]
    [InlineData("253402300800000000", false)]
    [InlineData("99999999999999999999", false)]
    [InlineData("0", false)]
    [InlineData("-1", false)]
    [InlineData("+1", false)]
    [InlineData(" 1", false)]
    [InlineData("1.5", false)]
    [InlineData("1e6", false)]
    [InlineData("1,2", false)]
    [InlineData("", false)]
    public void A_time_consists_of_digits_and_is_before_the_year_10000(string text, bool isTime) =>
        Assert.Equal(isTime, StepTimes.TryParseUnixUs(text, out _));

    [Fact]
    public void An_invalid_time_is_treated_as_missing() => Assert.Equal(
        new StepTimes(),
        StepTimes.Of(new Dictionary<string, long> { ["sent"] = -1, ["stored"] = long.MaxValue, ["consumed"] = 0 }));

    private static DateTimeOffset At(long us) => DateTimeOffset.UnixEpoch.AddTicks(us * TimeSpan.TicksPerMicrosecond);
}
