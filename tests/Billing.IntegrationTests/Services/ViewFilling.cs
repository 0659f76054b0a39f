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
            var account = await store.AppendAsync(stream, EventStoreFixture.Facts(1 + (n * 13), seed: n));
            expected[stream] = account with { Head = null };
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
    public async Task A_gap_is_read_from_the_store_in_the_background()
    {
        var stream = NewStream();
        var account = await store.AppendAsync(stream, EventStoreFixture.Facts(3)) with { Head = null };
        var backend = store.NewBackend();
        await backend.EnsureEventStoreAsync(CancellationToken.None);
        var (model, view) = (backend.GetRequiredService<BalanceReadModel>(), backend.GetRequiredService<BalanceView>());
        await model.StartAsync(CancellationToken.None);
        var waiting = view.WaitAsync(stream, 3, Patience);

        model.Apply([RecordedEvent.ToWire(stream, account.Version, EventStoreFixture.Facts(1).Single())]);

        Assert.True(await waiting);
        Assert.Equal(account, view.Find(stream));
        await model.StopAsync(CancellationToken.None);
    }

    [Fact]
    public async Task The_rebuild_command_reports_the_accounts_and_the_size_of_the_view()
    {
        await store.AppendAsync(NewStream(), EventStoreFixture.Facts(7));
        await using var folder = StackFolder.Create();

        var (exitCode, output) = await CommandRun.ToEndAsync(
            folder, ["rebuild", "--postgres", store.Postgres.ConnectionString]);

        Assert.Equal(0, exitCode);
        Assert.Matches(
            @"^[\d,]+ accounts in \d+\.\d+ s, [\d,]+ a second; the view takes \d+\.\d MB, [\d,]+ bytes "
                + @"for each account\.$",
            output.Split('\n').Last(line => line.Length > 0));
    }

    private static string NewStream() => "visa/" + StackFixture.NewAccount();
}
