using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>Refunds, independent of the transport of their commands.</summary>
public abstract class Refunds
{
    private readonly StackFixture _stack;

    protected Refunds(StackFixture stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task A_payment_is_given_back_in_parts_and_the_balance_the_payment_and_the_statement_show_it()
    {
        var proxy = _stack.Proxy();
        var payment = StackFixture.Payment(amount: 10);
        await proxy.MakePaymentAsync(payment);

        var first = await proxy.RefundPaymentAsync(Refund(payment, 4));
        var rest = await proxy.RefundPaymentAsync(Refund(payment, 6));
        var balance = await proxy.CheckBalanceAsync(
            new CheckBalanceRequest
            {
                AccountId = payment.AccountId,
                PaymentType = payment.PaymentType,
                MinVersion = rest.Version,
            });
        var found = await proxy.GetTransactionAsync(
            new GetTransactionRequest
            {
                TransactionId = payment.TransactionId,
                AccountId = payment.AccountId,
                PaymentType = payment.PaymentType,
            });
        var statement = await StatementAsync(payment.AccountId);

        Assert.Equal(
            (4m, 4m, 6m, 2),
            (first.Amount.ToDecimal(), first.Refunded.ToDecimal(), first.Balance.ToDecimal(), first.Version));
        Assert.Equal(
            (6m, 10m, 0m, 3),
            (rest.Amount.ToDecimal(), rest.Refunded.ToDecimal(), rest.Balance.ToDecimal(), rest.Version));
        Assert.Equal(payment.TransactionId, rest.PaymentId);
        Assert.Equal((0m, 10_000m), (balance.Balance.ToDecimal(), balance.Available.ToDecimal()));
        Assert.Equal(
            (10m, 10m, 10m),
            (found.Entry.Amount.ToDecimal(), found.Payment.Charged.ToDecimal(), found.Payment.Refunded.ToDecimal()));
        Assert.Equal(
            [
                StatementEntryType.PaymentAccepted, StatementEntryType.PaymentRefunded,
                StatementEntryType.PaymentRefunded,
            ],
            statement.Select(entry => entry.Type));
        Assert.Equal(
            [("", 10m), (payment.TransactionId, 6m), (payment.TransactionId, 0m)],
            statement.Select(entry => (entry.PaymentId, entry.Balance.ToDecimal())));
    }

    [Fact]
    public async Task A_repeated_refund_gets_the_same_answer_and_is_given_back_once()
    {
        var proxy = _stack.Proxy();
        var payment = StackFixture.Payment(amount: 10);
        await proxy.MakePaymentAsync(payment);
        var refund = Refund(payment, 10);

        var first = await proxy.RefundPaymentAsync(refund);
        var again = await proxy.RefundPaymentAsync(refund);

        Assert.Equal(first.AsReplay(), again);
        Assert.Equal(2, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task Of_refunds_at_the_same_time_as_many_are_given_back_as_fit_the_payment()
    {
        var proxy = _stack.Proxy();
        var payment = StackFixture.Payment(amount: 10);
        await proxy.MakePaymentAsync(payment);

        var refunds = await Task.WhenAll(Enumerable.Range(0, 8).Select(async _ =>
        {
            try
            {
                return (decimal?)(await proxy.RefundPaymentAsync(Refund(payment, 3))).Amount.ToDecimal();
            }
            catch (RpcException e) when (e.Reason() == ErrorReasons.AmountTooLarge)
            {
                return null;
            }
        }));

        Assert.Equal(3, refunds.Count(refund => refund is not null));
        Assert.Equal(4, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task A_refund_that_does_not_fit_its_payment_is_refused_with_its_reason_and_changes_nothing()
    {
        var proxy = _stack.Proxy();
        var payment = StackFixture.Payment(amount: 10);
        var declined = StackFixture.Payment(payment.AccountId, 10_000);
        var refund = Refund(payment, 1);
        await proxy.MakePaymentAsync(payment);
        await proxy.MakePaymentAsync(declined);
        await proxy.RefundPaymentAsync(refund);
        (RefundPaymentRequest Request, StatusCode Status, string Reason, string Field)[] refusals =
        [
            (Refund(payment, 9.01m), StatusCode.FailedPrecondition, ErrorReasons.AmountTooLarge, "amount"),
            (Refund(payment, 1, "EUR"), StatusCode.FailedPrecondition,
                ErrorReasons.CurrencyMismatch, "amount.currency_code"),
            (Refund(declined, 1), StatusCode.FailedPrecondition, ErrorReasons.PaymentDeclined, "payment_id"),
            (Refund(StackFixture.Payment(payment.AccountId), 1), StatusCode.NotFound,
                ErrorReasons.PaymentNotFound, "payment_id"),
            (Refund(payment, 1, change: r => r.AccountId = StackFixture.NewAccount()), StatusCode.NotFound,
                ErrorReasons.PaymentNotFound, "payment_id"),
            (Refund(payment, 1, change: r => r.PaymentType = PaymentType.Amex), StatusCode.NotFound,
                ErrorReasons.PaymentNotFound, "payment_id"),
            (Refund(payment, 1, change: r => r.PaymentId = refund.TransactionId), StatusCode.NotFound,
                ErrorReasons.PaymentNotFound, "payment_id"),
            (Refund(payment, 2, change: r => r.TransactionId = refund.TransactionId),
                StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused, ""),
            (Refund(declined, 1, change: r => r.TransactionId = refund.TransactionId),
                StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused, ""),
            (Refund(payment, 10, change: r => r.TransactionId = payment.TransactionId),
                StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused, ""),
            (Refund(payment, 0), StatusCode.InvalidArgument, ErrorReasons.InvalidField, "amount"),
            (Refund(payment, 1, change: r => r.PaymentId = "1"),
                StatusCode.InvalidArgument, ErrorReasons.InvalidField, "payment_id"),
        ];

        foreach (var (request, status, reason, field) in refusals)
        {
            var failure = await Assert.ThrowsAsync<RpcException>(() => proxy.RefundPaymentAsync(request).ResponseAsync);
            Assert.Equal(
                (status, reason, field),
                (failure.StatusCode, failure.Reason(), failure.Field() ?? ""));
        }

        Assert.Equal(3, await _stack.CountEventsAsync(payment.AccountId));
    }

    private async Task<List<StatementEntry>> StatementAsync(string account)
    {
        using var call = _stack.Proxy()
            .StreamStatement(new ListStatementRequest { AccountId = account, PaymentType = PaymentType.Visa });
        return await call.ResponseStream.ReadAllAsync().SelectMany(page => page.Entries).ToListAsync();
    }

    private static RefundPaymentRequest Refund(
        MakePaymentRequest payment, decimal amount, string currency = "USD",
        Action<RefundPaymentRequest>? change = null)
    {
        var refund = new RefundPaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            PaymentId = payment.TransactionId,
            Amount = amount.ToMoney(currency),
        };
        change?.Invoke(refund);
        return refund;
    }
}

/// <summary>Over Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class RefundsOverKafka(KafkaStack stack) : Refunds(stack);

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class RefundsEmbedded(EmbeddedStack stack) : Refunds(stack);

/// <summary>By direct calls over RPCX.</summary>
[Collection(OverDirectCalls.Name)]
public sealed class RefundsOverDirectRpcx(DirectRpcxStack stack) : Refunds(stack);
