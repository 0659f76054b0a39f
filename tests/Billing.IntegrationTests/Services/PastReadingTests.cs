using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;

namespace Billing.IntegrationTests.Services;

/// <summary>Accounts as they were, and pages of only some events, read from a real event store.</summary>
[Collection(OverEventStore.Name)]
public sealed class PastReadingTests(EventStoreFixture store)
{
    private const int Events = 230;

    private static readonly DateTimeOffset Begin = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private AccountHistory History => Past.History(store.Backend);

    [Fact]
    public async Task An_account_is_read_as_of_each_version_and_each_time()
    {
        var (account, facts) = await AppendAsync();
        var expected = EventStoreFixture.Opened;

        Assert.Equal(new PastAccount(expected), await History.AtAsync("visa/" + account, 0, Stop));
        Assert.Equal(
            new PastAccount(expected), await History.AtAsync("visa/" + account, facts[0].DecidedAt.AddTicks(-1), Stop));
        foreach (var fact in facts)
        {
            expected = expected.Apply(fact);
            var found = new PastAccount(expected, fact.DecidedAt);
            Assert.Equal(found, await History.AtAsync("visa/" + account, expected.Version, Stop));
            Assert.Equal(found, await History.AtAsync("visa/" + account, fact.DecidedAt, Stop));
            Assert.Equal(found, await History.AtAsync("visa/" + account, fact.DecidedAt.AddTicks(1), Stop));
        }
        Assert.Equal(expected, (await History.AtAsync("visa/" + account, DateTimeOffset.MaxValue, Stop)).Account);
        Assert.Equal(new PastAccount(null, End: Events), await History.AtAsync("visa/" + account, Events + 1, Stop));
        Assert.Equal(new PastAccount(null, End: Events), await History.AtAsync("visa/" + account, long.MaxValue, Stop));
        Assert.Equal(new PastAccount(null), await History.AtAsync("visa/" + StackFixture.NewAccount(), 1, Stop));
        Assert.Equal(
            new PastAccount(EventStoreFixture.Opened),
            await History.AtAsync("visa/" + StackFixture.NewAccount(), Begin, Stop));
    }

    /// <summary>As when a partition moves from a backend to another one, whose clock is behind.</summary>
    [Fact]
    public async Task The_last_event_until_a_time_is_found_also_where_clocks_differed()
    {
        var random = new Random(1);
        var account = StackFixture.NewAccount();
        var facts = Enumerable.Range(0, Events)
            .Select(n => Begin.AddSeconds(n)
                .AddTicks(random.NextInt64(-25 * TimeSpan.TicksPerSecond, 25 * TimeSpan.TicksPerSecond)))
            .Select(at => (AccountEvent)new PaymentAccepted(Guid.NewGuid(), 1, "USD", at) { Balance = 0 }).ToList();
        await store.AppendAsync("visa/" + account, facts);
        var cuts = facts.Select(fact => fact.DecidedAt).Order().Where((_, n) => n % 7 == 0).ToList();

        foreach (var time in cuts)
        {
            Assert.Equal(
                facts.FindLastIndex(fact => fact.DecidedAt <= time) + 1,
                (await History.AtAsync("visa/" + account, time, Stop)).Account!.Version);
        }
        var ranges = new List<StatementEntry>();
        foreach (var (
            from, before) in ((IEnumerable<DateTimeOffset?>)[null, .. cuts.Select(cut => (DateTimeOffset?)cut)])
            .Zip([.. cuts.Select(cut => (DateTimeOffset?)cut), null]))
        {
            var range = await ReadAllAsync(account, 3, from, before);
            Assert.Equal(
                facts.Where(fact => !(fact.DecidedAt < from) && !(fact.DecidedAt >= before))
                    .Select(fact => fact.TransactionId.ToString()),
                range.Select(entry => entry.TransactionId));
            ranges.AddRange(range);
        }

        Assert.Equal(await ReadAllAsync(account, 1000), ranges.OrderBy(entry => entry.Version));
    }

    [Theory]
    [InlineData(100_000, 1000)]
    [InlineData(100_000, 13)]
    [InlineData(7, 2)]
    public async Task A_page_has_only_the_events_of_a_range_and_of_types_and_the_next_one_goes_on(
        int scannedMax, int limit)
    {
        var (account, facts) = await AppendAsync();
        var whole = await ReadAllAsync(account, 1000);
        Assert.Equal(Events, whole.Count);

        foreach (var (first, end) in ((int, int)[])[(0, Events), (10, 11), (10, 10), (99, 205), (Events, Events)])
        {
            foreach (var types in (StatementEntryType[][])
                [
                    [], [StatementEntryType.CreditLimitChanged],
                    [StatementEntryType.PaymentAccepted, StatementEntryType.PaymentDeclined],
                    [StatementEntryType.PaymentRefunded], [StatementEntryType.AccountStatusChanged],
                ])
            {
                var (from, before) = (At(first), At(end));
                var expected = whole.Where(entry =>
                    entry.Version > first && entry.Version <= end && (types.Length == 0 || types.Contains(entry.Type)));

                Assert.Equal(
                    expected,
                    from == before ? [] : await ReadAllAsync(account, limit, from, before, types, scannedMax));
            }
        }
        Assert.Empty(
            await ReadAllAsync(StackFixture.NewAccount(), limit, Begin, types: [StatementEntryType.PaymentAccepted]));

        DateTimeOffset At(int index) => index < facts.Count ? facts[index].DecidedAt : facts[^1].DecidedAt.AddTicks(1);
    }

    [Fact]
    public async Task A_version_whose_event_is_gone_is_no_version_without_events()
    {
        var account = StackFixture.NewAccount();
        await store.AppendAsync("visa/" + account, EventStoreFixture.Facts(9));
        await store.ExecuteAsync(
            $"delete from billing.mt_events where stream_id = 'visa/{account}' and version in (4, 5)");

        var failure = await Assert.ThrowsAsync<InvalidDataException>(() => History.AtAsync("visa/" + account, 5, Stop));

        Assert.Equal($"visa/{account} has no event of version 5.", failure.Message);
        Assert.Equal(9, (await History.AtAsync("visa/" + account, DateTimeOffset.MaxValue, Stop)).Account!.Version);
        Assert.Equal([1L, 2, 3, 6, 7, 8, 9], (await ReadAllAsync(account, 100, Begin)).Select(entry => entry.Version));
    }

    private async Task<(string Account, List<AccountEvent> Facts)> AppendAsync()
    {
        var account = StackFixture.NewAccount();
        // Closer to one another than PostgreSQL's times can tell apart.
        var facts = EventStoreFixture.Facts(Events).Select((fact, n) => fact switch
        {
            PaymentAccepted when n is 9 or 49 => new Billing.Backends.Domain.AccountStatusChanged(
                Guid.NewGuid(), Begin.AddTicks(n * 3))
            {
                Balance = 0,
                Status = n == 9 ? AccountStatus.Frozen : null,
            },
            PaymentAccepted paid => paid with { DecidedAt = Begin.AddTicks(n * 3) },
            Billing.Backends.Domain.PaymentDeclined declined => declined with { DecidedAt = Begin.AddTicks(n * 3) },
            _ => (AccountEvent)((Billing.Backends.Domain.CreditLimitChanged)fact with
            {
                DecidedAt = Begin.AddTicks(n * 3),
            }),
        }).ToList();
        await store.AppendAsync("visa/" + account, facts);
        return (account, facts);
    }

    private async Task<List<StatementEntry>> ReadAllAsync(
        string account, int limit, DateTimeOffset? from = null, DateTimeOffset? before = null,
        StatementEntryType[]? types = null, int scannedMax = 100_000)
    {
        var reader = Past.Statements(store.Backend, scannedMax);
        var request = new StatementPageRequest
        {
            AccountId = account,
            PaymentType = PaymentType.Visa,
            Limit = limit,
            StartTime = from?.ToTimestamp(),
            EndTime = before?.ToTimestamp(),
            Types_ = { types ?? [] },
        };
        var entries = new List<StatementEntry>();
        while (true)
        {
            var page = await reader.ReadAsync(request, Stop);
            Assert.InRange(page.Entries.Count, 0, limit);
            entries.AddRange(page.Entries);
            if (!page.HasMore)
            {
                return entries;
            }
            Assert.True(page.ReadTo > request.AfterVersion, "It does not get on.");
            request.AfterVersion = page.ReadTo;
        }
    }
}

/// <summary>What reads the past of the accounts in the only database of a backend.</summary>
internal static class Past
{
    public static AccountHistory History(IServiceProvider backend) =>
        new(backend.Database().Server(), "billing", EventStoreFixture.Opened);

    public static StatementReader Statements(IServiceProvider backend, int scannedMax = 100_000) =>
        new(
            backend.Database().Server(), backend.Database().Store, History(backend),
            "billing", EventStoreFixture.Opened, scannedMax);
}
