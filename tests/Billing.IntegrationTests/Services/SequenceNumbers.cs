using Billing.Auditing;
using Billing.LocalStack;
using Billing.V1;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>After a crash, the server may assign sequence numbers again that Marten has already used for
/// tombstones.</summary>
[Collection(InOneProcess.Name)]
public sealed class SequenceNumbers(EmbeddedStack stack)
{
    [Fact]
    public async Task Sequence_numbers_already_used_by_tombstones_fail_no_payment()
    {
        var prefix = StackFixture.NewAccount();
        await stack.Proxy().MakePaymentAsync(StackFixture.Payment(prefix + "-first"));
        await TakeNextNumbersAsync(30);

        var answers = await Task.WhenAll(Enumerable.Range(0, 20).Select(
            i => stack.Proxy().MakePaymentAsync(StackFixture.Payment($"{prefix}-{i}")).ResponseAsync));

        Assert.All(answers, answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        var audit = await new Auditor(stack.ConnectionString) { OpeningLimits = BillingStack.OpeningLimits }
            .RunAsync([], CancellationToken.None);
        Assert.True(audit.IsClean);
        Assert.Equal(21, await stack.CountEventsAsync(prefix + "-%"));
    }

    private async Task TakeNextNumbersAsync(int count)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var take = database.CreateCommand($$"""
            insert into billing.mt_streams (id, version) values ('mt_tombstone', 0) on conflict do nothing;
            insert into billing.mt_events (seq_id, id, stream_id, version, data, type, timestamp)
            select last_value + n, gen_random_uuid(), 'mt_tombstone', last_value + n, '{}', 'tombstone', now()
            from billing.mt_events_sequence, generate_series(1, {{count}}) n
            """);
        await take.ExecuteNonQueryAsync();
    }
}
