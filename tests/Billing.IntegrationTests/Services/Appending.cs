using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.IntegrationTests.StackTests;
using Marten.Exceptions;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>What the product's own configuration stores, and what it makes of each refusal.</summary>
[Collection(OneStackAtATime.Name)]
public sealed class Appending(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    private readonly string _stream = "visa/" + StackFixture.NewAccount();

    private IAccountStore Accounts => store.Backend.GetRequiredService<IAccountStore>();

    [Theory]
    [InlineData("")]
    [InlineData("Timezone=America/New_York")]
    public async Task An_event_is_stored_at_its_time_whatever_time_zone_the_server_and_the_setting_name(string setting)
    {
        var database = await store.NewDatabaseAsync();
        var name = new NpgsqlConnectionStringBuilder(database).Database;
        await store.ExecuteAsync($"alter database {name} set timezone to 'Asia/Tokyo'");
        var backend = store.NewBackend($"{database};{setting}");
        await backend.GetRequiredService<EventStoreSchema>().EnsureAsync(CancellationToken.None);
        var accounts = backend.GetRequiredService<IAccountStore>();
        var facts = EventStoreFixture.Facts(2).ToList();
        var first = New(facts[0], EventStoreFixture.Opened);

        await accounts.AppendAsync([first], CancellationToken.None);
        await accounts.AppendAsync([New(facts[1], first.After)], CancellationToken.None);

        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand(
            "select max(abs(extract(epoch from timestamp - now())))::float8 from billing.mt_events");
        Assert.InRange((double)(await select.ExecuteScalarAsync())!, 0, 3600);
    }

    [Fact]
    public async Task An_append_behind_another_one_is_a_conflict_and_nothing_else()
    {
        var account = await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        var stale = New(EventStoreFixture.Facts(1).Single(), account with { Version = 1 });

        AssertConflict(await Record.ExceptionAsync(() => Accounts.AppendAsync([stale], CancellationToken.None)));
    }

    [Fact]
    public async Task A_second_opening_of_an_account_is_a_conflict_and_nothing_else()
    {
        await store.AppendAsync(_stream, EventStoreFixture.Facts(3));
        var opening = New(EventStoreFixture.Facts(1).Single(), EventStoreFixture.Opened);

        AssertConflict(await Record.ExceptionAsync(() => Accounts.AppendAsync([opening], CancellationToken.None)));
    }

    [Fact]
    public async Task A_transaction_id_that_has_a_receipt_is_a_receipt_collision_and_nothing_else()
    {
        var fact = EventStoreFixture.Facts(1).Single();
        var account = await store.AppendAsync(_stream, [fact]);

        var refused = await Record.ExceptionAsync(() => Accounts.AppendAsync([New(fact, account)], CancellationToken.None));

        Assert.IsType<MartenCommandException>(refused);
        Assert.True(EventStoreFailure.IsReceiptCollision(refused));
        Assert.False(EventStoreFailure.IsConflict(refused));
        Assert.False(EventStoreFailure.IsAway(refused));
    }

    [Fact]
    public async Task What_failed_can_be_appended_afterwards_and_is_there_once()
    {
        var taken = EventStoreFixture.Facts(1).Single();
        await store.AppendAsync("visa/" + StackFixture.NewAccount(), [taken]);
        var account = await store.AppendAsync(_stream, EventStoreFixture.Facts(1));
        await Assert.ThrowsAsync<MartenCommandException>(
            () => Accounts.AppendAsync([New(taken, account)], CancellationToken.None));

        var next = New(EventStoreFixture.Facts(1).Single(), account);
        await Accounts.AppendAsync([next], CancellationToken.None);

        var read = await Accounts.LoadAsync([_stream], EventStoreFixture.Opened, CancellationToken.None);
        Assert.Equal(next.After, read[_stream]);
    }

    [Fact]
    public async Task A_server_that_is_gone_is_away_and_neither_a_conflict_nor_a_collision()
    {
        var nowhere = new NpgsqlConnectionStringBuilder(store.Postgres.ConnectionString) { Port = 1 };
        var accounts = store.NewBackend(nowhere.ConnectionString).GetRequiredService<IAccountStore>();

        var failure = await Record.ExceptionAsync(() => accounts.AppendAsync(
            [New(EventStoreFixture.Facts(1).Single(), EventStoreFixture.Opened)], CancellationToken.None));

        Assert.NotNull(failure);
        Assert.True(EventStoreFailure.IsAway(failure), $"{failure}");
        Assert.False(EventStoreFailure.IsConflict(failure));
        Assert.False(EventStoreFailure.IsReceiptCollision(failure));
    }

    private static void AssertConflict(Exception? failure)
    {
        Assert.NotNull(failure);
        Assert.True(EventStoreFailure.IsConflict(failure), $"{failure}");
        Assert.False(EventStoreFailure.IsReceiptCollision(failure));
        Assert.False(EventStoreFailure.IsAway(failure));
    }

    private NewEvent New(AccountEvent fact, Account before)
    {
        var after = before.Apply(fact);
        return new NewEvent(fact, after, RecordedEvent.ToWire(_stream, fact, after));
    }
}
