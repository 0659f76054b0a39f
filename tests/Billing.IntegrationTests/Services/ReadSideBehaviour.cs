using System.Collections.Concurrent;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.V1;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>The guarantees of balance checks, independent of the transport that carries the
/// events to the views.</summary>
public abstract class ReadSideBehaviour
{
    private const int InFlight = 64;

    private readonly StackFixture _stack;
    private readonly int _tries;

    protected ReadSideBehaviour(StackFixture stack, int tries)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
        _tries = tries;
    }

    [Fact]
    public async Task A_check_with_the_version_of_the_latest_payment_never_returns_an_older_balance()
    {
        var client = _stack.Client();
        var accounts = Enumerable.Range(0, 500).Select(_ => StackFixture.NewAccount()).ToArray();
        var outdated = new ConcurrentBag<string>();

        await Parallel.ForEachAsync(
            Enumerable.Range(0, _tries), new ParallelOptions { MaxDegreeOfParallelism = InFlight },
            async (n, cancellationToken) =>
            {
                var account = accounts[n % accounts.Length];
                var paid = await client.MakePaymentAsync(StackFixture.Payment(account, 0.01m), cancellationToken);
                var balance = await client.CheckBalanceAsync(
                    new CheckBalanceRequest
                    {
                        AccountId = account,
                        PaymentType = PaymentType.Visa,
                        MinVersion = paid.Version,
                    },
                    cancellationToken);
                if (balance.Version < paid.Version || balance.Balance.ToDecimal() != balance.Version * 0.01m)
                {
                    outdated.Add($"{account}: paid {paid}, read {balance}");
                }
            });

        Assert.Empty(outdated);
    }

    [Fact]
    public async Task A_version_that_the_account_has_not_reached_is_out_of_range_and_both_versions_are_named()
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment();
        var paid = await proxy.MakePaymentAsync(request);

        var failure = await Assert.ThrowsAsync<RpcException>(() => proxy.CheckBalanceAsync(new CheckBalanceRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            MinVersion = paid.Version + 6,
        }).ResponseAsync);

        Assert.Equal(StatusCode.OutOfRange, failure.StatusCode);
        Assert.Equal(ErrorReasons.VersionNotReached, failure.Reason());
        Assert.Equal("min_version", failure.Field());
        Assert.Equal("min_version is 7; the account is at version 1.", failure.Status.Detail);
    }

    [Fact]
    public async Task A_balance_has_the_credit_limit_and_the_available_amount()
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment(amount: 12.5m, currency: "EUR");
        var paid = await proxy.MakePaymentAsync(request);

        var balance = await proxy.CheckBalanceAsync(new CheckBalanceRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            MinVersion = paid.Version,
        });

        Assert.Equal(10_000m.ToMoney("EUR"), balance.CreditLimit);
        Assert.Equal(9_987.5m.ToMoney("EUR"), balance.Available);
        Assert.Equal(12.5m.ToMoney("EUR"), balance.Balance);
        Assert.InRange(
            balance.ReadTime.ToDateTimeOffset(),
            TimeProvider.System.GetUtcNow().AddMinutes(-5), TimeProvider.System.GetUtcNow());
    }
}

/// <summary>Two proxies, one payment backend and three balance replicas over their own Kafka.</summary>
public sealed class ThreeReplicas()
    : KafkaFixture(new StackOptions { Proxies = 2, PaymentBackends = 1, BalanceBackends = 3 });

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class ReadSideEmbedded(EmbeddedStack stack) : ReadSideBehaviour(stack, 2_000);
