using Billing.Auditing;
using Billing.Contracts;
using Billing.Driver;
using Billing.Journals;
using Billing.LocalStack;
using Billing.V1;
using Grpc.Core;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>The behaviour of the platform, independent of the transport of its commands.</summary>
public abstract class BillingBehaviour
{
    private readonly StackFixture _stack;

    protected BillingBehaviour(StackFixture stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Theory]
    [InlineData(PaymentType.Visa)]
    [InlineData(PaymentType.Mastercard)]
    [InlineData(PaymentType.Discover)]
    [InlineData(PaymentType.Amex)]
    public async Task A_payment_is_accepted_and_the_balance_shows_it(PaymentType type)
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment(amount: 12.34m, type: type);

        var paid = await proxy.MakePaymentAsync(request);
        var balance = await proxy.CheckBalanceAsync(
            new CheckBalanceRequest { AccountId = request.AccountId, PaymentType = type, MinVersion = paid.Version });

        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(request.TransactionId, paid.TransactionId);
        Assert.Equal(1, paid.Version);
        Assert.Equal(12.34m, paid.Balance.ToDecimal());
        Assert.Equal(12.34m, balance.Balance.ToDecimal());
        Assert.Equal(10_000 - 12.34m, balance.Available.ToDecimal());
        Assert.Equal(1, balance.Version);
        Assert.NotNull(balance.ReadTime);
    }

    [Theory]
    [InlineData(12.34, PaymentOutcome.Accepted, DeclineReason.Unspecified)]
    [InlineData(10_000.01, PaymentOutcome.Declined, DeclineReason.CreditLimitExceeded)]
    public async Task A_payment_is_found_by_its_id_as_it_was_answered(
        double amount, PaymentOutcome outcome, DeclineReason reason)
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment(amount: (decimal)amount);
        var paid = await proxy.MakePaymentAsync(request);
        await proxy.MakePaymentAsync(StackFixture.Payment(request.AccountId));

        var found = (await proxy.GetTransactionAsync(Lookup(request))).Entry;

        Assert.Equal(
            (outcome == PaymentOutcome.Accepted, reason),
            (found.Type == StatementEntryType.PaymentAccepted, found.DeclineReason));
        Assert.Equal(
            (paid.TransactionId, paid.Balance, paid.OnHold, paid.Version, paid.DecideTime),
            (found.TransactionId, found.Balance, found.OnHold, found.Version, found.DecideTime));
        Assert.Equal(request.Amount, found.Amount);
        Assert.True(found.DecideTime.ToDateTimeOffset() > DateTimeOffset.UnixEpoch);
    }

    [Fact]
    public async Task A_request_of_another_account_or_none_at_all_is_not_found_and_one_of_any_kind_is()
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment();
        await proxy.MakePaymentAsync(request);
        var limit = new SetCreditLimitRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            Limit = request.Amount,
        };
        await _stack.Admin().SetCreditLimitAsync(limit);
        GetTransactionRequest[] lookups =
        [
            Lookup(StackFixture.Payment(request.AccountId)),
            Lookup(request, r => r.AccountId = StackFixture.NewAccount()),
            Lookup(request, r => r.PaymentType = PaymentType.Amex),
        ];

        foreach (var lookup in lookups)
        {
            var failure = await Assert.ThrowsAsync<RpcException>(() => proxy.GetTransactionAsync(lookup).ResponseAsync);
            Assert.Equal(
                (StatusCode.NotFound, ErrorReasons.TransactionNotFound), (failure.StatusCode, failure.Reason()));
        }
        var changed = await proxy.GetTransactionAsync(Lookup(request, r => r.TransactionId = limit.TransactionId));
        Assert.Equal(
            (StatementEntryType.CreditLimitChanged, limit.TransactionId, null),
            (changed.Entry.Type, changed.Entry.TransactionId, changed.Payment));
    }

    [Fact]
    public async Task An_account_without_events_has_a_balance_of_zero()
    {
        var balance = await _stack.Proxy().CheckBalanceAsync(
            new CheckBalanceRequest { AccountId = StackFixture.NewAccount(), PaymentType = PaymentType.Amex });

        Assert.Equal(0, balance.Version);
        Assert.Equal(0, balance.Balance.ToDecimal());
    }

    [Fact]
    public async Task An_account_id_is_a_separate_account_for_each_payment_type()
    {
        var client = _stack.Client();
        var account = StackFixture.NewAccount();
        await client.MakePaymentAsync(StackFixture.Payment(account, 7, type: PaymentType.Visa));

        var paid = await client.MakePaymentAsync(StackFixture.Payment(account, 3, type: PaymentType.Amex));

        Assert.Equal(3, paid.Balance.ToDecimal());
    }

    [Fact]
    public async Task A_payment_above_the_available_amount_is_declined_and_not_charged()
    {
        var client = _stack.Client();
        var account = StackFixture.NewAccount();
        await client.MakePaymentAsync(StackFixture.Payment(account, 9_990));

        var declined = await client.MakePaymentAsync(StackFixture.Payment(account, 10.01m));
        var accepted = await client.MakePaymentAsync(StackFixture.Payment(account, 10));

        Assert.Equal(PaymentOutcome.Declined, declined.Outcome);
        Assert.Equal(DeclineReason.CreditLimitExceeded, declined.DeclineReason);
        Assert.NotEmpty(declined.Message);
        Assert.Equal(2, declined.Version);
        Assert.Equal(PaymentOutcome.Accepted, accepted.Outcome);
        Assert.Equal(10_000, accepted.Balance.ToDecimal());
    }

    [Fact]
    public async Task A_payment_in_another_currency_is_declined()
    {
        var client = _stack.Client();
        var account = StackFixture.NewAccount();
        await client.MakePaymentAsync(StackFixture.Payment(account, 5, "EUR"));

        var declined = await client.MakePaymentAsync(StackFixture.Payment(account, 5, "USD"));

        Assert.Equal(DeclineReason.CurrencyMismatch, declined.DeclineReason);
        Assert.Equal("EUR", declined.Balance.CurrencyCode);
    }

    [Fact]
    public async Task Many_payments_at_once_are_recorded_one_after_the_other()
    {
        var client = _stack.Client();
        var account = StackFixture.NewAccount();
        await Task.WhenAll(
            Enumerable.Range(0, 105).Select(_ => client.MakePaymentAsync(StackFixture.Payment(account, 0.01m))));

        var balance = await client.CheckBalanceAsync(
            new CheckBalanceRequest { AccountId = account, PaymentType = PaymentType.Visa, MinVersion = 105 });

        Assert.Equal(105, balance.Version);
        Assert.Equal(1.05m, balance.Balance.ToDecimal());
    }

    [Fact]
    public async Task Ten_concurrent_copies_of_a_payment_get_equal_answers_and_store_one_event()
    {
        var request = StackFixture.Payment();
        var proxies = Enumerable.Range(0, 10).Select(_stack.Proxy).ToList();

        var answers = await Task.WhenAll(proxies.Select(proxy => proxy.MakePaymentAsync(request).ResponseAsync));

        Assert.All(answers, answer => Assert.Equal(answers[0].AsReplay(), answer.AsReplay()));
        Assert.InRange(answers.Count(answer => !answer.Replayed), 0, 1);
        Assert.Equal(1, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_later_copy_of_a_payment_gets_the_same_answer()
    {
        var client = _stack.Client();
        var request = StackFixture.Payment();
        var first = await client.MakePaymentAsync(request);
        await client.MakePaymentAsync(StackFixture.Payment(request.AccountId));

        var again = await client.MakePaymentAsync(request);

        Assert.False(first.Replayed);
        Assert.Equal(first.AsReplay(), again);
        Assert.Equal(2, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_transaction_id_reused_for_a_different_payment_is_rejected()
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment();
        await proxy.MakePaymentAsync(request);
        var other = request.Clone();
        other.Amount.Units++;

        var failure = await Assert.ThrowsAsync<RpcException>(() => proxy.MakePaymentAsync(other).ResponseAsync);

        Assert.Equal(StatusCode.AlreadyExists, failure.StatusCode);
        Assert.Equal(ErrorReasons.TransactionIdReused, failure.Reason());
        Assert.Equal(1, await _stack.CountEventsAsync(request.AccountId));
    }

    [Theory]
    [InlineData("account")]
    [InlineData("type")]
    public async Task A_transaction_id_of_another_account_is_another_payment(string difference)
    {
        var proxy = _stack.Proxy();
        var request = StackFixture.Payment();
        await proxy.MakePaymentAsync(request);
        var other = request.Clone();
        if (difference == "account")
        {
            other.AccountId = StackFixture.NewAccount();
        }
        else
        {
            other.PaymentType = PaymentType.Discover;
        }

        var paid = await proxy.MakePaymentAsync(other);

        Assert.Equal((PaymentOutcome.Accepted, 1), (paid.Outcome, paid.Version));
        Assert.Equal(paid.AsReplay(), await proxy.MakePaymentAsync(other));
    }

    [Fact]
    public async Task A_call_whose_deadline_has_passed_fails_with_DEADLINE_EXCEEDED()
    {
        var failure = await Assert.ThrowsAsync<RpcException>(() => _stack.Proxy().MakePaymentAsync(
            StackFixture.Payment(), deadline: TimeProvider.System.GetUtcNow().UtcDateTime.AddTicks(1)).ResponseAsync);

        Assert.Equal(StatusCode.DeadlineExceeded, failure.StatusCode);
    }

    [Fact]
    public async Task The_audit_of_a_run_is_clean_and_finds_a_payment_that_was_lost_duplicated_or_changed_afterwards()
    {
        var journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
        try
        {
            var load = new LoadSpec
            {
                Addresses = _stack.Stack.ProxyAddresses,
                Shape = new LoadShape.Burst(300),
                Accounts = 20,
                Journal = journal,
                Seed = 7,
            };
            await using (var driver = new LoadDriver(load, TimeProvider.System))
            {
                await driver.RunAsync(CancellationToken.None);
            }
            var entries = JournalReader.Read(journal).ToList();
            var auditor = new Auditor(_stack.ConnectionString) { OpeningLimits = BillingStack.OpeningLimits };

            var clean = await auditor.RunAsync([journal], CancellationToken.None);
            var lines = new List<string>(File.ReadLines(journal));
            lines[0] = lines[0]
                .Replace(entries[0].TransactionId.ToString(), Guid.NewGuid().ToString(), StringComparison.Ordinal);
            lines[1] = (entries[1] with { Amount = entries[1].Amount + 1 }).ToString();
            await File.WriteAllLinesAsync(journal, lines);
            await DuplicateAsync(entries[2]);
            var broken = await auditor.RunAsync([journal], CancellationToken.None);

            Assert.Equal(300, clean.Acknowledged);
            Assert.Equal(300, clean.Recorded);
            Assert.True(clean.IsClean);
            Assert.Single(broken.Lost);
            Assert.Contains(
                entries[1].TransactionId.ToString(),
                Assert.Single(
                    broken.Wrong, w => w.Contains(entries[1].TransactionId.ToString(), StringComparison.Ordinal)),
                StringComparison.Ordinal);
            Assert.Contains(
                entries[2].TransactionId.ToString(), Assert.Single(broken.Doubled), StringComparison.Ordinal);
        }
        finally
        {
            File.Delete(journal);
            await RemoveDuplicateAsync();
        }
    }

    private async Task DuplicateAsync(JournalEntry entry)
    {
        await using var database = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var copy = database.CreateCommand("""
            insert into billing.mt_events (seq_id, id, stream_id, version, data, type, mt_dotnet_type)
            select -1, gen_random_uuid(), stream_id, 1000000, data, type, mt_dotnet_type
            from billing.mt_events where stream_id = $1 and version = $2
            """);
        copy.Parameters.AddWithValue(entry.StreamId);
        copy.Parameters.AddWithValue(entry.Version);
        Assert.Equal(1, await copy.ExecuteNonQueryAsync());
    }

    private async Task RemoveDuplicateAsync()
    {
        await using var database = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var delete = database.CreateCommand("delete from billing.mt_events where seq_id = -1");
        await delete.ExecuteNonQueryAsync();
    }

    private static GetTransactionRequest Lookup(
        MakePaymentRequest payment, Action<GetTransactionRequest>? change = null)
    {
        var lookup = new GetTransactionRequest
        {
            TransactionId = payment.TransactionId,
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
        };
        change?.Invoke(lookup);
        return lookup;
    }
}
