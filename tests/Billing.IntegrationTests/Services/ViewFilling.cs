using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.LocalStack.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.IntegrationTests.Services;

/// <summary>The balance view, filled from a real event store.</summary>
public sealed class ViewFilling(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    [Fact]
    public async Task When_it_is_filled_every_account_has_the_state_that_its_events_give()
    {
        var expected = new Dictionary<string, Account>();
        for (var n = 0; n < 40; n++)
        {
            var stream = NewStream();
            expected[stream] = await store.AppendAsync(stream, EventStoreFixture.Facts(1 + (n * 13), seed: n));
        }
        var backend = store.NewBackend();
        var reports = new List<int>();

        var accounts = await backend.FillBalancesAsync(reports.Add, CancellationToken.None);

        var view = backend.GetRequiredService<BalanceView>();
        Assert.All(expected, e => Assert.Equal(e.Value, view.Find(e.Key)));
        Assert.Equal(EventStoreFixture.Opened, view.Find("visa/none"));
        Assert.Equal(view.Count, accounts);
        Assert.Equal(accounts, reports[^1]);
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

        await backend.FillBalancesAsync(_ => { }, CancellationToken.None);

        Assert.Equal(new Account(1, 0, 77, "CHF"), backend.GetRequiredService<BalanceView>().Find(stream));
    }

    [Fact]
    public async Task A_gap_is_read_from_the_store_in_the_background()
    {
        var stream = NewStream();
        var account = await store.AppendAsync(stream, EventStoreFixture.Facts(3));
        var backend = store.NewBackend();
        await backend.EnsureEventStoreAsync(CancellationToken.None);
        var (model, view) = (backend.GetRequiredService<BalanceReadModel>(), backend.GetRequiredService<BalanceView>());
        await model.StartAsync(CancellationToken.None);
        var waiting = view.WaitAsync(stream, 3, Patience);

        model.Apply([RecordedEvent.ToWire(stream, EventStoreFixture.Facts(1).Single(), account)]);

        Assert.True(await waiting);
        Assert.Equal(account, view.Find(stream));
        await model.StopAsync(CancellationToken.None);
    }

    [Fact]
    public async Task The_rebuild_command_reports_the_accounts_and_the_size_of_the_view()
    {
        await store.AppendAsync(NewStream(), EventStoreFixture.Facts(7));
        await using var folder = StackFolder.Create();

        var (exitCode, output) = await CommandRun.ToEndAsync(folder, ["rebuild", "--postgres", store.Postgres.ConnectionString]);

        Assert.Equal(0, exitCode);
        Assert.Matches(
            @"^[\d,]+ accounts in \d+\.\d+ s, [\d,]+ a second; the view takes \d+\.\d MB, [\d,]+ bytes for each account\.$",
            output.Split('\n').Last(line => line.Length > 0));
    }

    private static string NewStream() => "visa/" + StackFixture.NewAccount();
}
