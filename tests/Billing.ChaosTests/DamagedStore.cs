using Billing.LocalStack;
using Billing.V1;
using Grpc.Core;
using Npgsql;

namespace Billing.ChaosTests;

/// <summary>A bit has flipped on the disk of the event store, under the events of one account.</summary>
[Collection(OverBrokers.Name)]
public sealed class DamagedStore(BrokerStack stack) : StackFailures(stack)
{
    private const int PageBytes = 8192;

    // Enough events to fill pages of their own, of which the last is read.
    private const int Events = 99;

    [Fact]
    public async Task A_damaged_page_delays_the_payments_of_its_account_and_no_others_and_never_changes_a_balance()
    {
        var (account, proxy) = (StackFixture.NewAccount(), Fixture.Proxy());
        await Task.WhenAll(Enumerable.Range(0, Events)
            .Select(_ => Conditions.RetryUntilAnsweredAsync(proxy, StackFixture.Payment(account, 0.01m))));
        var (file, page) = await PageOfAsync(account);
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(50);
        var request = StackFixture.Payment(account, 0.01m);

        await FlipBitAsync(file, page);
        RpcException failure;
        try
        {
            failure = await Conditions.FailureWhileStoreIsUnavailableAsync(proxy, request);
            await traffic.WaitForMoreAsync(100);
        }
        finally
        {
            await FlipBitAsync(file, page);
        }
        var paid = await Conditions.RetryUntilAnsweredAsync(proxy, request);

        Conditions.AssertStoreUnavailable(failure);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(Events + 1, paid.Version);
        Assert.Equal(1, paid.Balance.Units);
        await traffic.EndCleanAsync();
    }

    /// <summary>The file and the number of a page that has events of one account only, its last ones.</summary>
    private async Task<(string File, long Page)> PageOfAsync(string account)
    {
        await using var database = NpgsqlDataSource.Create(Fixture.ConnectionString);
        await using var command = database.CreateCommand("""
            select current_setting('data_directory') || '/' || pg_relation_filepath('billing.mt_events'),
                (ctid::text::point)[0]::bigint as page
            from billing.mt_events group by page having bool_and(stream_id = $1) order by max(version) desc limit 1
            """);
        command.Parameters.AddWithValue("visa/" + account);
        await using var rows = await command.ExecuteReaderAsync();
        Assert.True(await rows.ReadAsync(), "no page has events of this account only");
        return (rows.GetString(0), rows.GetInt64(1));
    }

    /// <summary>Flips a bit, and restarts PostgreSQL and the payment backends, which have the page in
    /// memory or its account.</summary>
    private async Task FlipBitAsync(string file, long page)
    {
        await Stack.Postgres!.StopAsync();
        await using (var data = new FileStream(file, FileMode.Open, FileAccess.ReadWrite))
        {
            data.Position = (page * PageBytes) + PageBytes - 100;
            var value = data.ReadByte();
            data.Position--;
            data.WriteByte((byte)(value ^ 1));
        }
        await Task.WhenAll(Stack.Of(ServiceRole.PaymentBackend).Select(KillAsync));
        await Stack.Postgres.StartAsync();
        await Fixture.RestartEndedServicesAsync();
    }
}
