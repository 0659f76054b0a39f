using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>Credit limits and statements, independent of the transport of their commands.</summary>
public abstract class LimitsAndStatements
{
    private readonly StackFixture _stack;

    protected LimitsAndStatements(StackFixture stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task A_new_limit_applies_to_later_payments()
    {
        var client = _stack.Client();
        var admin = _stack.Admin();
        var account = StackFixture.NewAccount();

        var lowered = await admin.SetCreditLimitAsync(Limit(account, 50));
        var declined = await client.MakePaymentAsync(StackFixture.Payment(account, 50.01m));
        var accepted = await client.MakePaymentAsync(StackFixture.Payment(account, 50));
        var raised = await admin.SetCreditLimitAsync(Limit(account, 20_000));
        var large = await client.MakePaymentAsync(StackFixture.Payment(account, 15_000));
        var balance = await client.CheckBalanceAsync(
            new CheckBalanceRequest
            {
                AccountId = account,
                PaymentType = PaymentType.Visa,
                MinVersion = large.Version,
            });

        Assert.Equal(1, lowered.Version);
        Assert.Equal(50, lowered.Limit.ToDecimal());
        Assert.Equal(0, lowered.Balance.ToDecimal());
        Assert.Equal(PaymentOutcome.Declined, declined.Outcome);
        Assert.Equal(PaymentOutcome.Accepted, accepted.Outcome);
        Assert.Equal(50, raised.Balance.ToDecimal());
        Assert.Equal(PaymentOutcome.Accepted, large.Outcome);
        Assert.Equal(20_000, balance.CreditLimit.ToDecimal());
        Assert.Equal(20_000 - 15_050, balance.Available.ToDecimal());
    }

    [Fact]
    public async Task Payments_are_declined_while_the_limit_is_below_the_balance()
    {
        var client = _stack.Client();
        var admin = _stack.Admin();
        var account = StackFixture.NewAccount();
        await client.MakePaymentAsync(StackFixture.Payment(account, 100));

        var lowered = await admin.SetCreditLimitAsync(Limit(account, 10));
        var declined = await client.MakePaymentAsync(StackFixture.Payment(account, 0.01m));

        Assert.Equal(100, lowered.Balance.ToDecimal());
        Assert.Equal(DeclineReason.CreditLimitExceeded, declined.DeclineReason);
    }

    [Fact]
    public async Task A_repeated_limit_change_gets_the_same_answer_and_stores_one_event()
    {
        var client = _stack.Client();
        var admin = _stack.Admin();
        var request = Limit(StackFixture.NewAccount(), 50);

        var first = await admin.SetCreditLimitAsync(request);
        await client.MakePaymentAsync(StackFixture.Payment(request.AccountId));
        var again = await admin.SetCreditLimitAsync(request);

        Assert.Equal(request.TransactionId, first.TransactionId);
        Assert.Equal(first.AsReplay(), again);
        Assert.Equal(2, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_transaction_id_reused_for_another_limit_or_a_payment_is_rejected()
    {
        var client = _stack.Client();
        var admin = _stack.Admin();
        var request = Limit(StackFixture.NewAccount(), 50);
        await admin.SetCreditLimitAsync(request);
        var other = request.Clone();
        other.Limit.Units++;
        var payment = StackFixture.Payment(request.AccountId);
        payment.TransactionId = request.TransactionId;

        var otherLimit = await Assert.ThrowsAsync<RpcException>(() => admin.SetCreditLimitAsync(other));
        var otherKind = await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(payment));

        foreach (var failure in new[] { otherLimit, otherKind })
        {
            Assert.Equal(StatusCode.AlreadyExists, failure.StatusCode);
            Assert.Equal(ErrorReasons.TransactionIdReused, failure.Reason());
        }
        Assert.Equal(1, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_limit_in_another_currency_is_rejected_with_its_field_and_changes_nothing()
    {
        var client = _stack.Client();
        var admin = _stack.Admin();
        var account = StackFixture.NewAccount();
        await client.MakePaymentAsync(StackFixture.Payment(account, 5, "EUR"));

        var failure = await Assert.ThrowsAsync<RpcException>(() => admin.SetCreditLimitAsync(Limit(account, 50)));

        Assert.Equal(StatusCode.FailedPrecondition, failure.StatusCode);
        Assert.Equal(ErrorReasons.CurrencyMismatch, failure.Reason());
        Assert.Equal("limit.currency_code", failure.Field());
        Assert.Equal(1, await _stack.CountEventsAsync(account));
    }

    [Fact]
    public async Task A_statement_lists_the_events_of_an_account_in_order_with_the_balance_after_each()
    {
        var client = _stack.Client();
        var admin = _stack.Admin();
        var account = StackFixture.NewAccount();
        var limit = Limit(account, 100);
        var accepted = StackFixture.Payment(account, 60.5m);
        var declined = StackFixture.Payment(account, 50);
        var last = StackFixture.Payment(account, 39.5m);
        await admin.SetCreditLimitAsync(limit);
        await client.MakePaymentAsync(accepted);
        await client.MakePaymentAsync(declined);
        await client.MakePaymentAsync(last);

        var entries = await ReadAsync(Statement(account));

        Assert.Equal([1L, 2, 3, 4], entries.Select(e => e.Version));
        Assert.Equal(
            [
                StatementEntryType.CreditLimitChanged, StatementEntryType.PaymentAccepted,
                StatementEntryType.PaymentDeclined, StatementEntryType.PaymentAccepted,
            ],
            entries.Select(e => e.Type));
        Assert.Equal(
            [limit.TransactionId, accepted.TransactionId, declined.TransactionId, last.TransactionId],
            entries.Select(e => e.TransactionId));
        Assert.Equal([100m, 60.5m, 50m, 39.5m], entries.Select(e => e.Amount.ToDecimal()));
        Assert.Equal([0m, 60.5m, 60.5m, 100m], entries.Select(e => e.Balance.ToDecimal()));
        Assert.Equal(DeclineReason.CreditLimitExceeded, entries[2].DeclineReason);
        Assert.Equal(
            entries.Select(e => e.DecideTime.ToDateTime()).Order(), entries.Select(e => e.DecideTime.ToDateTime()));
    }

    [Fact]
    public async Task A_statement_read_in_pages_equals_the_statement_read_at_once()
    {
        var client = _stack.Client();
        var account = StackFixture.NewAccount();
        await StreamedPayments.SendAsync(
            client, [.. Enumerable.Range(0, 1_203).Select(_ => StackFixture.Payment(account, 0.01m))]);

        var whole = await ReadAsync(Statement(account));
        var pages = new List<StatementEntry>();
        var request = Statement(account);
        request.PageSize = 250;
        ListStatementResponse page;
        do
        {
            page = await _stack.Client().ListStatementAsync(request);
            pages.AddRange(page.Entries);
            request.PageToken = page.NextPageToken;
        }
        while (request.PageToken.Length > 0);

        Assert.Equal(Enumerable.Range(1, 1_203).Select(n => (long)n), whole.Select(e => e.Version));
        Assert.Equal(12.03m, whole[^1].Balance.ToDecimal());
        Assert.Equal(whole, pages);
    }

    [Fact]
    public async Task The_statement_of_an_account_without_events_is_empty() =>
        Assert.Empty(await ReadAsync(Statement(StackFixture.NewAccount())));

    private static SetCreditLimitRequest Limit(string account, decimal limit) => new()
    {
        TransactionId = Guid.NewGuid().ToString(),
        AccountId = account,
        PaymentType = PaymentType.Visa,
        Limit = limit.ToMoney("USD"),
    };

    private static ListStatementRequest Statement(string account) =>
        new() { AccountId = account, PaymentType = PaymentType.Visa };

    private async Task<List<StatementEntry>> ReadAsync(ListStatementRequest request)
    {
        var entries = new List<StatementEntry>();
        await foreach (var page in _stack.Client().StreamStatementAsync(request))
        {
            entries.AddRange(page.Entries);
        }
        return entries;
    }
}

/// <summary>Over Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class LimitsAndStatementsOverKafka(KafkaStack stack) : LimitsAndStatements(stack);

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class LimitsAndStatementsEmbedded(EmbeddedStack stack) : LimitsAndStatements(stack);
