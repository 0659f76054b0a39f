using Billing.Auditing;
using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
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
        _expected = await store.AppendAsync(_stream, EventStoreFixture.Facts(5));
        await store.AppendAsync("amex/" + StackFixture.NewAccount(), EventStoreFixture.Facts(2));
        await InsertTombstonesAsync();
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [Fact]
    public async Task A_rebuild_ignores_tombstones()
    {
        var backend = store.NewBackend();
        var events = await CountAsync("mt_events where stream_id <> 'mt_tombstone'");

        var done = await backend.GetRequiredService<BalanceReadModel>().RebuildAsync(_ => { }, CancellationToken.None);

        var view = backend.GetRequiredService<BalanceView>();
        Assert.Equal(_expected, view.Get(_stream));
        Assert.Equal(events, done.Events);
        Assert.Equal(0, view.Get(EventTypes.TombstoneStream).Version);
    }

    [Fact]
    public async Task A_scan_ends_with_the_last_event_and_not_with_a_tombstone()
    {
        var backend = store.NewBackend();
        var scan = backend.GetRequiredService<IEventScan>();

        var page = await scan.ReadPageAsync(
            EventScan.Start, 10_000, e => Assert.NotEqual(EventTypes.TombstoneStream, e.StreamId), CancellationToken.None);

        Assert.Equal(page.Last, await scan.LastAsync(CancellationToken.None));
    }

    [Fact]
    public async Task An_audit_finds_no_fault_in_tombstones_and_does_not_count_them()
    {
        var audit = await new Auditor(store.Postgres.ConnectionString, "billing").RunAsync([], CancellationToken.None);

        Assert.True(audit.IsClean, string.Join('\n', [.. audit.Holes, .. audit.Unbalanced, .. audit.Misjudged]));
        Assert.Equal(await CountAsync("mt_events where stream_id <> 'mt_tombstone'"), audit.Events);
        Assert.Equal(await CountAsync("mt_streams where id <> 'mt_tombstone'"), audit.Accounts);
    }

    private Task InsertTombstonesAsync() => store.ExecuteAsync($$"""
        insert into billing.mt_streams (id, version) values ('mt_tombstone', 0) on conflict do nothing;
        insert into billing.mt_events (seq_id, id, stream_id, version, data, type, mt_dotnet_type)
        select seq, gen_random_uuid(), 'mt_tombstone', seq, '{}', 'tombstone', 'JasperFx.Events.Tombstone, JasperFx.Events'
        from (select nextval('billing.mt_events_sequence') as seq from generate_series(1, 3)) taken
        """);

    private async Task<long> CountAsync(string rows)
    {
        await using var database = NpgsqlDataSource.Create(store.Postgres.ConnectionString);
        await using var count = database.CreateCommand($"select count(*) from billing.{rows}");
        return (long)(await count.ExecuteScalarAsync())!;
    }
}
