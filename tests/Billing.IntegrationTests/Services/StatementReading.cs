using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.IntegrationTests.Services;

/// <summary>Pages of a statement, read from a real event store.</summary>
[Collection(OverEventStore.Name)]
public sealed class StatementReading(EventStoreFixture store)
{
    [Fact]
    public async Task An_account_without_events_has_an_empty_page()
    {
        var page = await ReadAsync(StackFixture.NewAccount(), 0, 10);

        Assert.Empty(page.Entries);
        Assert.False(page.HasMore);
        Assert.Equal(0, page.Closing.Version);
        Assert.Equal(0, page.Closing.CreditLimit.ToDecimal());
    }

    [Fact]
    public async Task Entries_have_the_type_of_their_event_and_the_balance_after_it()
    {
        var account = StackFixture.NewAccount();
        var facts = EventStoreFixture.Facts(5).ToList();
        await store.AppendAsync("visa/" + account, facts);

        var page = await ReadAsync(account, 0, 1000);

        Assert.Equal([1, 2, 3, 4, 5], page.Entries.Select(e => e.Version));
        Assert.Equal(
            [
                StatementEntryType.PaymentAccepted, StatementEntryType.PaymentAccepted,
                StatementEntryType.PaymentDeclined,
                StatementEntryType.CreditLimitChanged, StatementEntryType.PaymentAccepted,
            ],
            page.Entries.Select(e => e.Type));
        Assert.Equal([1, 2, 50_003, 20_004, 5], page.Entries.Select(e => e.Amount.ToDecimal()));
        Assert.Equal([1, 3, 3, 3, 8], page.Entries.Select(e => e.Balance.ToDecimal()));
        Assert.Equal(DeclineReason.CreditLimitExceeded, page.Entries[2].DeclineReason);
        Assert.All(page.Entries, e => Assert.True(Guid.TryParse(e.TransactionId, out _)));
        Assert.Equal(
            new DateTimeOffset(2026, 1, 31, 12, 0, 4, TimeSpan.Zero), page.Entries[3].DecideTime.ToDateTimeOffset());
        Assert.False(page.HasMore);
        Assert.Equal(
            new AccountState { Version = 5, Balance = 8m.ToMoney("USD"), CreditLimit = 20_004m.ToMoney("USD") },
            page.Closing);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Pages_read_one_after_another_are_the_whole_statement(bool withOpening)
    {
        var account = StackFixture.NewAccount();
        await store.AppendAsync("visa/" + account, EventStoreFixture.Facts(23));
        var whole = await ReadAsync(account, 0, 1000);
        var entries = new List<StatementEntry>();
        AccountState? opening = null;
        StatementPage page;

        do
        {
            page = await ReadAsync(account, entries.Count, 5, withOpening ? opening : null);
            entries.AddRange(page.Entries);
            opening = page.Closing;
        }
        while (page.HasMore);

        Assert.Equal(whole.Entries, entries);
        Assert.Equal(whole.Closing, page.Closing);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Of_large_entries_a_page_has_few_and_the_next_one_has_those_that_follow(bool isSelective)
    {
        const int Count = 50;
        var account = StackFixture.NewAccount();
        var notes = Notes.Of(new PaymentNotes { Reference = new string('n', 4_000) });
        await store.AppendAsync(
            "visa/" + account, EventStoreFixture.Facts(Count).Select(fact => fact with { Notes = notes }));
        var (versions, pages, page) = (new List<long>(), 0, new StatementPage());

        for (var isMore = true; isMore; isMore = page.HasMore)
        {
            var request = new StatementPageRequest
            {
                AccountId = account,
                PaymentType = PaymentType.Visa,
                AfterVersion = page.ReadTo,
                Limit = 1000,
                StartTime = isSelective ? new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero).ToTimestamp() : null,
            };
            page = await Past.Statements(store.Backend).ReadAsync(request, CancellationToken.None);
            Assert.InRange(page.CalculateSize(), 1, RequestKinds.StatementBytesMax + 1000);
            versions.AddRange(page.Entries.Select(entry => entry.Version));
            pages++;
        }

        Assert.Equal(Enumerable.Range(1, Count).Select(version => (long)version), versions);
        Assert.Equal(4, pages);
    }

    [Theory]
    [InlineData(3, 3)]
    [InlineData(4, 3)]
    [InlineData(long.MaxValue, 3)]
    public async Task A_page_after_the_last_event_is_empty_and_has_the_state_of_the_account(
        long afterVersion, long version)
    {
        var account = StackFixture.NewAccount();
        await store.AppendAsync("visa/" + account, EventStoreFixture.Facts(3));

        var page = await ReadAsync(account, afterVersion, 5);

        Assert.Empty(page.Entries);
        Assert.False(page.HasMore);
        Assert.Equal(version, page.Closing.Version);
        Assert.Equal(3, page.Closing.Balance.ToDecimal());
    }

    private Task<StatementPage> ReadAsync(string account, long afterVersion, int limit, AccountState? opening = null) =>
        Past.Statements(store.Backend).ReadAsync(
            new StatementPageRequest
            {
                AccountId = account,
                PaymentType = PaymentType.Visa,
                AfterVersion = afterVersion,
                Limit = limit,
                Opening = opening,
            },
            CancellationToken.None);
}
