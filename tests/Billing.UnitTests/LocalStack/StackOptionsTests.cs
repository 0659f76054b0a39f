using Billing.Contracts;
using Billing.LocalStack;

namespace Billing.UnitTests.LocalStack;

public sealed class StackOptionsTests
{
    [Theory]
    [InlineData(1, 1)]
    [InlineData(3, 3)]
    [InlineData(4, 1)]
    [InlineData(5, 4)]
    [InlineData(1, 9)]
    [InlineData(100, 3)]
    public void The_fewest_partitions_give_every_backend_at_least_one(int payments, int balances)
    {
        var topics = PaymentTypes.All.Count;
        var partitions = new StackOptions { PaymentBackends = payments, BalanceBackends = balances }.FewestPartitions;

        Assert.InRange(partitions * topics, Math.Max(payments, balances), int.MaxValue);
        Assert.True(partitions == 1 || (partitions - 1) * topics < Math.Max(payments, balances));
    }

    [Fact]
    public void Each_proxy_has_its_own_gRPC_and_REST_ports_if_the_first_ports_are_requested()
    {
        var options = new StackOptions { Proxies = 3, Transport = "direct" };

        Assert.Empty(options.FixedPorts);
        Assert.Equal([5000, 5001, 5002], (options with { Port = 5000 }).FixedPorts);
        Assert.Equal([5000, 5001, 5002, 8080, 8081, 8082], (options with { Port = 5000, RestPort = 8080 }).FixedPorts);
        Assert.Equal([8080], (options with { RestPort = 8080, Transport = "kafka", Kafka = "embedded" }).FixedPorts);
    }
}
