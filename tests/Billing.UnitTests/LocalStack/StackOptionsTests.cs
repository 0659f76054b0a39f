using Billing.LocalStack;

namespace Billing.UnitTests.LocalStack;

public sealed class StackOptionsTests
{
    [Theory]
    [InlineData(1, 1, 1)]
    [InlineData(3, 3, 1)]
    [InlineData(4, 1, 1)]
    [InlineData(5, 4, 2)]
    [InlineData(1, 9, 3)]
    [InlineData(100, 3, 25)]
    public void The_four_topics_have_as_few_partitions_as_give_every_backend_one(int payments, int balances, int expected)
    {
        var options = new StackOptions { PaymentBackends = payments, BalanceBackends = balances };

        Assert.Equal(expected, options.FewestPartitions);
        Assert.InRange(options.FewestPartitions * 4, Math.Max(payments, balances), int.MaxValue);
    }
}
