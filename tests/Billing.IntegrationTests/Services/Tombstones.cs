using Billing.Auditing;
using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.LocalStack;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>The tombstones that Marten stores after a failed save: they belong to no account.</summary>
public sealed class Tombstones(EventStoreFixture store) : IClassFixture<EventStoreFixture>, IAsyncLifetime
{
    private readonly string _stream = "visa/" + StackFixture.NewAccount();
    private Account _expected = EventStoreFixture.Opened;

    /// <summary>Stores tombstones before, between and after events.</summary>
    public async ValueTask InitializeAsync()
    {
        await InsertTombstonesAsync();
        _expected = await store.AppendAsync(_stream, EventStoreFixture.Facts(5)) with { Head = null };
        await store.AppendAsync("amex/" + StackFixture.NewAccount(), EventStoreFixture.Facts(2));
        await InsertTombstonesAsync();
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task A_view_of_the_balances_ignores_tombstones()
    {
        var backend = store.NewBackend();

        var accounts = await backend.FillBalancesAsync(_ => { }, CancellationToken.None);

        var view = backend.GetRequiredService<BalanceView>();
        Assert.Equal(_expected, view.Find(_stream));
        Assert.Equal(await CountAsync("mt_streams where id <> 'mt_tombstone'"), accounts);
        Assert.False(view.Holds(EventTypes.TombstoneStream));
    }

    [Fact]
    public async Task An_audit_finds_no_fault_in_tombstones_and_does_not_count_them()
    {
        var audit = await new Auditor(store.Postgres.ConnectionString) { OpeningLimits = BillingStack.OpeningLimits }
            .RunAsync([], CancellationToken.None);

        Assert.True(audit.IsClean, string.Join('\n', [.. audit.Holes, .. audit.Unbalanced, .. audit.Misjudged]));
        Assert.Equal(await CountAsync("mt_events where stream_id <> 'mt_tombstone'"), audit.Events);
        Assert.Equal(await CountAsync("mt_streams where id <> 'mt_tombstone'"), audit.Accounts);
    }

    private Task InsertTombstonesAsync() => store.ExecuteAsync($$"""
        insert into billing.mt_streams (id, version) values ('mt_tombstone', 0) on conflict do nothing;
        insert into billing.mt_events (seq_id, id, stream_id, version, data, type, mt_dotnet_type)
        select seq, gen_random_uuid(), 'mt_tombstone', seq, '{}', 'tombstone',
            'JasperFx.Events.Tombstone, JasperFx.Events'
        from (select nextval('billing.mt_events_sequence') as seq from generate_series(1, 3)) taken
        """);

    private async Task<long> CountAsync(string rows)
    {
        await using var database = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        await using var count = database.CreateCommand($"select count(*) from billing.{rows}");
        return (long)(await count.ExecuteScalarAsync())!;
    }
}
