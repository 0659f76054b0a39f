using Billing.Auditing;
using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.Extensions.DependencyInjection;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;

namespace Billing.IntegrationTests.Services;

/// <summary>An operator changes the limits of accounts that have none of their own.</summary>
[Collection(OverEventStore.Name)]
public sealed class OpeningLimitsOfAccounts(EventStoreFixture store)
{
    private static readonly DateTimeOffset Begin = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(50, 500)]
    [InlineData(120, 500)]
    [InlineData(120, 70_000)]
    [InlineData(250, 500)]
    public Task Whoever_says_the_limit_of_an_account_without_one_of_its_own_says_the_present_one(
        int payments, int limit) =>
        SaysAsync([.. Enumerable.Range(0, payments).Select(Paid)], limit, expected: limit);

    [Theory]
    [InlineData(50)]
    [InlineData(120)]
    [InlineData(250)]
    public Task Whoever_says_the_limit_of_an_account_with_one_of_its_own_says_that(int payments) => SaysAsync(
        [
            new Billing.Backends.Domain.CreditLimitChanged(Guid.NewGuid(), 777, "USD", Begin) { Balance = 0 },
            .. Enumerable.Range(1, payments - 1).Select(Paid),
        ],
        limit: 500, expected: 777);

    private async Task SaysAsync(List<AccountEvent> facts, decimal limit, decimal expected)
    {
        var account = StackFixture.NewAccount();
        var database = await store.NewDatabaseAsync();
        var backend = store.NewBackend(database);
        await backend.EnsureEventStoreAsync(Stop);
        await EventStoreFixture.AppendAsync(backend.Database().Store, "visa/" + account, Opened(10_000), facts);

        var said = await SayAsync(backend, account, facts.Count, Opened(limit));

        Assert.All(said, one => Assert.Equal((one.By, expected), (one.By, one.Limit)));
        Assert.True((await new Auditor(database) { OpeningLimits = Amounts(limit) }.RunAsync([], Stop)).IsClean);
    }

    // In another currency there is another limit.
    private static Dictionary<string, decimal> Amounts(decimal limit) => new() { ["USD"] = limit, ["EUR"] = 1 };

    private static Account Opened(decimal limit) => Account.Opened(new OpeningLimits(Amounts(limit)));

    private static AccountEvent Paid(int second) =>
        new PaymentAccepted(Guid.NewGuid(), 1, "USD", Begin.AddSeconds(second)) { Balance = 0 };

    // What decides, what answers CheckBalance from the view and from events that follow, GetBalanceAt and GetStatement.
    private static async Task<List<(string By, decimal Limit)>> SayAsync(
        ServiceProvider backend, string account, int version, Account opened)
    {
        var (stream, database) = ("visa/" + account, backend.Database());
        var decided = (await database.Store.LoadAsync([stream], opened, Stop))[stream];
        var view = new BalanceView(opened, 10, TimeProvider.System);
        await view.ReadAsync(database.Store, [stream], Stop);
        var read = view.Find(stream)!;
        var next = NewEvent.Of(
            stream, new Payment(Guid.NewGuid(), 1, "USD").Decide(decided, null, Begin).Event!, decided);
        Assert.Empty(view.Apply([next.Recorded]));
        var history = new AccountHistory(database.Server(), "billing", opened);
        var statements = new StatementReader(database.Server(), database.Store, history, "billing", opened);
        var whole = await statements.ReadAsync(Page(account, 0, 1000), Stop);
        var last = await statements.ReadAsync(Page(account, version - 1, 10), Stop);
        var beyond = await statements.ReadAsync(Page(account, version + 7, 10), Stop);
        return
        [
            ("decisions", decided.CreditLimit), ("the view", read.CreditLimit),
            ("the view after an event", view.Find(stream)!.CreditLimit),
            ("the balance at the version", (await history.AtAsync(stream, version, Stop)).Account!.CreditLimit),
            ("the balance at a version before", (await history.AtAsync(
                stream, version - 1, Stop)).Account!.CreditLimit),
            ("the balance at the time", (await history.AtAsync(
                stream, DateTimeOffset.MaxValue, Stop)).Account!.CreditLimit),
            ("the statement", whole.Closing.CreditLimit.ToDecimal()),
            ("its last page", last.Closing.CreditLimit.ToDecimal()),
            ("a page after it", beyond.Closing.CreditLimit.ToDecimal()),
        ];
    }

    private static StatementPageRequest Page(string account, long after, int limit) =>
        new() { AccountId = account, PaymentType = PaymentType.Visa, AfterVersion = after, Limit = limit };
}
