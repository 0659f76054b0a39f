using Billing.Auditing;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.IntegrationTests.Services;

/// <summary>A stack with two backends of each kind, whose consumer groups use the protocol of KIP-848.</summary>
public sealed class ConsumerProtocolStack() : KafkaFixture(new StackOptions
{
    Proxies = 1,
    PaymentBackends = 2,
    BalanceBackends = 2,
    Settings =
        new Dictionary<string, string>(StringComparer.Ordinal) { ["Billing__Kafka__GroupProtocol"] = "Consumer" },
});

/// <summary>The platform with partition assignment by the brokers:
/// <c>Billing:Kafka:GroupProtocol=Consumer</c>.</summary>
public sealed class ConsumerGroupProtocol : IClassFixture<ConsumerProtocolStack>
{
    private readonly ConsumerProtocolStack _stack;

    public ConsumerGroupProtocol(ConsumerProtocolStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task Every_payment_is_answered_and_recorded_once_while_backends_leave_and_join()
    {
        var client = _stack.Client();
        var accounts = Enumerable.Range(0, 20).Select(_ => StackFixture.NewAccount()).ToList();

        Assert.Equal(2, await MembersAsync("billing-payments", 2));
        Assert.Equal(2, await MembersAsync("billing-balances", 2));
        await PayAllAsync(client, accounts, version: 1);
        await _stack.Stack.RemoveAsync(_stack.Stack.Of(ServiceRole.PaymentBackend).First(s => s.Number == 2));
        await PayAllAsync(client, accounts, version: 2);
        Assert.Equal(1, await MembersAsync("billing-payments", 1));
        await _stack.Stack.AddAsync(ServiceRole.PaymentBackend, 2, CancellationToken.None);
        Assert.Equal(2, await MembersAsync("billing-payments", 2));
        await PayAllAsync(client, accounts, version: 3);

        var audit = await new Auditor(_stack.ConnectionString)
        {
            OpeningLimits = BillingStack.OpeningLimits,
            Proxies = _stack.Stack.ProxyAddresses,
        }.RunAsync([], CancellationToken.None);
        Assert.True(
            audit.IsClean,
            string.Join('\n', [.. audit.Doubled, .. audit.Holes, .. audit.Unbalanced, .. audit.Misjudged]));
        Assert.Equal(20 * PaymentTypes.All.Count * 3, audit.Events);
    }

    /// <summary>Sends one payment twice to each account of each payment type, and reads the balance after it.</summary>
    private static Task PayAllAsync(Billing.Client.BillingClient client, List<string> accounts, int version) =>
        Task.WhenAll(
            from account in accounts
            from type in PaymentTypes.All
            select PayAsync(client, account, type, version));

    private static async Task PayAsync(
        Billing.Client.BillingClient client, string account, PaymentType type, int version)
    {
        var payment = StackFixture.Payment(account, amount: 10, type: type);
        var answers = await Task.WhenAll(client.MakePaymentAsync(payment), client.MakePaymentAsync(payment));
        var balance = await client.CheckBalanceAsync(
            new CheckBalanceRequest { AccountId = account, PaymentType = type, MinVersion = version });

        Assert.Equal(answers[0].AsReplay(), answers[1].AsReplay());
        Assert.Equal((version, 10 * version), (answers[0].Version, answers[0].Balance.Units));
        Assert.Equal(10 * version, balance.Balance.Units);
    }

    /// <summary>Waits until a group of this protocol has the expected number of members,
    /// and returns their number.</summary>
    private async Task<int> MembersAsync(string group, int expected)
    {
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        return await Poll.LastAsync(
            async () =>
            {
                var listed = await admin.ListConsumerGroupsAsync(
                    new ListConsumerGroupsOptions { RequestTimeout = Patience });
                Assert.Equal(ConsumerGroupType.Consumer, listed.Valid.Single(g => g.GroupId == group).Type);
                var described = await admin.DescribeConsumerGroupsAsync(
                    [group], new DescribeConsumerGroupsOptions { RequestTimeout = Patience });
                return described.ConsumerGroupDescriptions.Single().Members.Count;
            },
            members => members == expected, Patience);
    }
}
