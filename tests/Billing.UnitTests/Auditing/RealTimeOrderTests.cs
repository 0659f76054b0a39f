using Billing.Auditing;
using Billing.Journals;

namespace Billing.UnitTests.Auditing;

public sealed class RealTimeOrderTests
{
    private const string Stream = "visa/a";

    [Fact]
    public void A_payment_sent_after_the_answer_to_another_must_have_a_later_version() => Assert.Equal(
        "visa/a: the payment of version 1 was sent 5 us after an answer had shown version 2",
        Assert.Single(Reordered(order =>
        {
            order.Add(Stream, 2, new CallSpan(10, 20));
            order.Add(Stream, 1, new CallSpan(25, 30));
        })));

    [Fact]
    public void A_payment_sent_after_a_balance_was_read_must_have_a_later_version() => Assert.Equal(
        "visa/a: the payment of version 2 was sent 1 us after an answer had shown version 2, visa/a: "
            + "the payment of version 1 was sent 1 us after an answer had shown version 2",
        string.Join(", ", Reordered(order =>
        {
            order.Add(Stream, 1, new CallSpan(21, 30));
            order.Add(Stream, 2, new CallSpan(21, 31));
            order.Add(Stream, 2, new CallSpan(1, 20), isPayment: false);
        })));

    [Fact]
    public void A_reordered_payment_is_found_behind_many_later_ones() => Assert.Single(Reordered(order =>
    {
        for (var version = 2; version <= 100; version++)
        {
            order.Add(Stream, version, new CallSpan(version * 10, (version * 10) + 9));
        }
        order.Add(Stream, 1, new CallSpan(30, 2_000));
    }));

    [Fact]
    public void A_payment_without_an_answer_must_have_a_later_version_than_those_answered_before_it() =>
        Assert.Single(Reordered(order =>
        {
            order.Add(Stream, 2, new CallSpan(10, 20));
            order.Add(Stream, 1, new CallSpan(21, 30), isAnswered: false);
        }));

    [Fact]
    public void Payments_sent_at_the_same_time_may_have_any_order() => Assert.Empty(Reordered(order =>
    {
        order.Add(Stream, 3, new CallSpan(10, 20));
        order.Add(Stream, 1, new CallSpan(20, 30));
        order.Add(Stream, 2, new CallSpan(5, 40));
    }));

    [Fact]
    public void Accounts_have_no_order_among_each_other() => Assert.Empty(Reordered(order =>
    {
        order.Add(Stream, 2, new CallSpan(10, 20));
        order.Add("visa/b", 1, new CallSpan(25, 30));
    }));

    [Fact]
    public void A_payment_sent_again_counts_from_the_first_time() => Assert.Empty(Reordered(order =>
    {
        order.Add(Stream, 1, new CallSpan(10, 15), isAnswered: false);
        order.Add(Stream, 2, new CallSpan(10, 20));
        order.Add(Stream, 1, new CallSpan(25, 30));
    }));

    [Fact]
    public void A_balance_may_be_older_than_another() => Assert.Empty(Reordered(order =>
    {
        order.Add(Stream, 2, new CallSpan(10, 20));
        order.Add(Stream, 2, new CallSpan(30, 40), isPayment: false);
        order.Add(Stream, 1, new CallSpan(50, 60), isPayment: false);
    }));

    [Theory]
    [InlineData(5, 0)]
    [InlineData(4, 1)]
    public void Clocks_may_differ_by_the_tolerance(int toleranceUs, int found) => Assert.Equal(
        found,
        Reordered(
            order =>
            {
                order.Add(Stream, 2, new CallSpan(10, 20));
                order.Add(Stream, 1, new CallSpan(25, 30));
            },
            toleranceUs).Count);

    private static Findings Reordered(Action<RealTimeOrder> add, int toleranceUs = 0)
    {
        var order = new RealTimeOrder(TimeSpan.FromMicroseconds(toleranceUs));
        add(order);
        order.Conclude();
        return order.Reordered;
    }
}
