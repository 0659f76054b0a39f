using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.LocalStack.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.IntegrationTests.Services;

/// <summary>The balance view, built from a real event store.</summary>
public sealed class ViewRebuilding(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    [Fact]
    public async Task After_a_rebuild_every_account_has_the_state_that_its_events_give()
    {
        var expected = new Dictionary<string, Account>();
        for (var n = 0; n < 40; n++)
        {
            var stream = NewStream();
            expected[stream] = await store.AppendAsync(stream, EventStoreFixture.Facts(1 + (n * 13), seed: n));
        }
        var backend = store.NewBackend();
        var reports = new List<RebuildProgress>();

        var done = await backend.GetRequiredService<BalanceReadModel>().RebuildAsync(reports.Add, CancellationToken.None);

        var view = backend.GetRequiredService<BalanceView>();
        Assert.All(expected, e => Assert.Equal(e.Value, view.Get(e.Key)));
        Assert.Equal(view.Count, done.Accounts);
        Assert.Equal(done, reports[^1]);
        Assert.Equal(done.Events, done.EventsEstimate);
        Assert.Equal(reports.Select(r => r.Events).Order(), reports.Select(r => r.Events));
    }

    [Fact]
    public async Task No_event_is_lost_if_sequence_numbers_are_not_in_the_order_of_the_versions()
    {
        var stream = NewStream();
        var expected = await store.AppendAsync(stream, EventStoreFixture.Facts(9));
        await store.ExecuteAsync($"""
            update billing.mt_events set seq_id = seq_id + 1000000 where stream_id = '{stream}' and version in (2, 5)
            """);
        var backend = store.NewBackend();

        await backend.GetRequiredService<BalanceReadModel>().RebuildAsync(_ => { }, CancellationToken.None);

        Assert.Equal(expected, backend.GetRequiredService<BalanceView>().Get(stream));
    }

    [Fact]
    public async Task A_limit_change_stored_without_an_id_is_applied()
    {
        var stream = NewStream();
        await store.ExecuteAsync($$"""
            insert into billing.mt_streams (id, version) values ('{{stream}}', 1);
            insert into billing.mt_events (seq_id, id, stream_id, version, data, type)
            select nextval('billing.mt_events_sequence'), gen_random_uuid(), '{{stream}}', 1,
                '{"Limit": 77, "Currency": "CHF", "DecidedAt": "2025-01-31T12:00:00+00:00"}', 'credit_limit_changed_v1'
            """);
        var backend = store.NewBackend();

        await backend.GetRequiredService<BalanceReadModel>().RebuildAsync(_ => { }, CancellationToken.None);

        Assert.Equal(new Account(1, 0, 77, "CHF"), backend.GetRequiredService<BalanceView>().Get(stream));
    }

    [Fact]
    public async Task A_gap_is_read_from_the_store_in_the_background()
    {
        var stream = NewStream();
        var account = await store.AppendAsync(stream, EventStoreFixture.Facts(3));
        var backend = store.NewBackend();
        var (model, view) = (backend.GetRequiredService<BalanceReadModel>(), backend.GetRequiredService<BalanceView>());
        await model.StartAsync(CancellationToken.None);
        var waiting = view.WaitAsync(stream, 3, Patience);

        model.Apply([RecordedEvent.ToWire(stream, EventStoreFixture.Facts(1).Single(), account)]);

        Assert.True(await waiting);
        Assert.Equal(account, view.Get(stream));
        await model.StopAsync(CancellationToken.None);
    }

    [Fact]
    public async Task A_rebuild_can_be_cancelled()
    {
        await store.AppendAsync(NewStream(), EventStoreFixture.Facts(1));
        using var stopping = new CancellationTokenSource();
        await stopping.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() =>
            store.NewBackend().GetRequiredService<BalanceReadModel>().RebuildAsync(stopping.Token));
    }

    [Fact]
    public async Task The_rebuild_command_reports_the_accounts_the_events_and_the_size_of_the_view()
    {
        await store.AppendAsync(NewStream(), EventStoreFixture.Facts(7));
        await using var folder = StackFolder.Create();

        var (exitCode, output) = await CommandRun.ToEndAsync(folder, ["rebuild", "--postgres", store.Postgres.ConnectionString]);

        Assert.Equal(0, exitCode);
        Assert.Matches(
            @"^[\d,]+ accounts from [\d,]+ events in \d+\.\d+ s, [\d,]+ events/s; the view takes \d+\.\d MB, [\d,]+ bytes per account\.$",
            output.Split('\n').Last(line => line.Length > 0));
    }

    private static string NewStream() => "visa/" + StackFixture.NewAccount();
}
