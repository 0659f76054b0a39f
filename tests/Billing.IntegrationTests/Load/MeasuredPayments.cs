using Billing.IntegrationTests.Services;
using Billing.Measuring;
using Billing.Measuring.Driving;
using Npgsql;
using Spectre.Console;

namespace Billing.IntegrationTests.Load;

/// <summary>The audit after a measurement, on its own stack, because a payment is deleted from its store.</summary>
public sealed class MeasuredPayments(EmbeddedStack stack) : IClassFixture<EmbeddedStack>
{
    [Fact]
    public async Task One_lost_payment_is_found_although_a_warm_up_was_stored_too()
    {
        var fleet = new DriveFleet(stack.Stack.Folder);
        // Payments to few accounts, so that each has several.
        var spec = new DriveSpec
        {
            Addresses = stack.Stack.ProxyAddresses,
            InFlight = 4,
            Accounts = 1,
            WarmUpS = 0.5,
            DurationS = 3600,
            Amount = 100,
            BalancePercent = 20,
        };

        await fleet.RunAsync(spec, 2, [], TestContext.Current.CancellationToken);
        var whole = await AuditAsync(fleet);
        await LoseOneAsync();
        var lacking = await AuditAsync(fleet);

        Assert.Equal((true, 0), (whole.IsClean, whole.Miscounted));
        Assert.Equal((1, 1), (whole.Events - lacking.Events, lacking.Miscounted));
    }

    private Task<Auditing.AuditCounts> AuditAsync(DriveFleet fleet) => StoreAudit.AuditAsync(
        stack.Stack, [], fleet.Payments, AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) }),
        TestContext.Current.CancellationToken);

    // Deletes the last payment of an account, with its receipt.
    private async Task LoseOneAsync()
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var delete = database.CreateCommand("""
            with last as (select id, version from billing.mt_streams where version > 1 limit 1),
                shorter as (update billing.mt_streams s set version = s.version - 1 from last where s.id = last.id),
                lost as (delete from billing.mt_events e using last where e.stream_id = last.id and e.version = last.version returning e.data)
            delete from billing.payment_receipts using lost where transaction_id = (lost.data->>'TransactionId')::uuid
            """);
        Assert.Equal(1, await delete.ExecuteNonQueryAsync(TestContext.Current.CancellationToken));
    }
}
