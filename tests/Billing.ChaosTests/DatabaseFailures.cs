using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.LocalStack;
using Billing.LocalStack.Postgres;
using Billing.Operator.Store;
using Billing.V1;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.ChaosTests;

/// <summary>Everything in one process, over an event store of two databases.</summary>
public sealed class TwoDatabaseStack() : StackFixture(new StackOptions
{
    Kafka = "embedded",
    PaymentBackends = 2,
    BalanceBackends = 1,
    Databases = 2,
    Settings = ChaosSettings.All,
});

/// <summary>An event store of several databases: one that is away, and shards that are moved.</summary>
public sealed class DatabaseFailures(TwoDatabaseStack stack) : StackFailures(stack), IClassFixture<TwoDatabaseStack>
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private LocalPostgres Second => Stack.MoreDatabases.Single();

    [Fact]
    public async Task Only_the_accounts_of_a_database_that_is_away_wait_even_when_the_service_starts_again()
    {
        var (first, second) = (await AccountInAsync("database01"), await AccountInAsync("database02"));
        await Fixture.Proxy().MakePaymentAsync(StackFixture.Payment(second));

        await Second.CrashAsync();
        var request = StackFixture.Payment(second);
        var failure = await Conditions.FailureWhileStoreIsUnavailableAsync(Fixture.Proxy(), request);
        var meanwhile = await Fixture.Proxy().MakePaymentAsync(StackFixture.Payment(first));
        await KillAsync(Stack.Of(ServiceRole.Embedded).Single());
        await Fixture.RestartEndedServicesAsync();
        var afterStart = await Conditions.RetryUntilAnsweredAsync(Fixture.Proxy(), StackFixture.Payment(first));
        var balance = await Fixture.Proxy()
            .CheckBalanceAsync(new CheckBalanceRequest { AccountId = first, PaymentType = PaymentType.Visa });
        await Second.StartAsync(Stop);
        var paid = await Conditions.RetryUntilAnsweredAsync(Fixture.Proxy(), request);

        Conditions.AssertStoreUnavailable(failure);
        Assert.Equal((1, 2, 2), (meanwhile.Version, afterStart.Version, balance.Version));
        Assert.Equal((PaymentOutcome.Accepted, 2), (paid.Outcome, paid.Version));
    }

    [Fact]
    public async Task Shards_are_moved_while_payments_go_on_and_none_is_lost_or_doubled()
    {
        await using var services = EventStore();
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);

        foreach (var name in (string[])["database02", "database01"])
        {
            for (var shard = 0; shard < Shard.Count; shard += 3)
            {
                await services.MoveShardAsync(shard, name, _ => { }, Stop);
            }
            await traffic.WaitForMoreAsync(150);
        }

        await traffic.EndCleanAsync();
    }

    private async Task<string> AccountInAsync(string database)
    {
        await using var services = EventStore();
        var shards = (await services.ListShardsAsync(Stop)).Single(found => found.Name == database).Shards;
        while (true)
        {
            var account = StackFixture.NewAccount();
            if (shards.Contains(Shard.Of("visa/" + account)))
            {
                return account;
            }
        }
    }

    private ServiceProvider EventStore() => StoreServices.Of(Stack.Databases);
}
