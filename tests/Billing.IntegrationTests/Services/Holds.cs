using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>Amounts on hold, independent of the transport of their commands.</summary>
public abstract class Holds
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly StackFixture _stack;

    protected Holds(StackFixture stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task A_hold_is_captured_in_parts_and_the_rest_released()
    {
        var proxy = _stack.Proxy();
        var hold = Authorise(60);

        var authorised = await proxy.AuthorisePaymentAsync(hold);
        var before = await BalanceAsync(hold.AccountId, authorised.Version);
        var part = await proxy.CapturePaymentAsync(Capture(hold, 20));
        var last = await proxy.CapturePaymentAsync(Capture(hold, 15, isFinal: true));
        var after = await BalanceAsync(hold.AccountId, last.Version);
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => proxy.CapturePaymentAsync(Capture(hold, 1)).ResponseAsync);
        var found = await proxy.GetTransactionAsync(
            new GetTransactionRequest
            {
                TransactionId = hold.TransactionId,
                AccountId = hold.AccountId,
                PaymentType = hold.PaymentType,
            });

        Assert.Equal(
            (PaymentOutcome.Accepted, 60m, 0m),
            (authorised.Outcome, authorised.OnHold.ToDecimal(), authorised.Balance.ToDecimal()));
        Assert.Equal(
            (0m, 60m, 9_940m), (before.Balance.ToDecimal(), before.OnHold.ToDecimal(), before.Available.ToDecimal()));
        Assert.Equal((20m, 40m, 20m), (part.Charged.ToDecimal(), part.Held.ToDecimal(), part.Balance.ToDecimal()));
        Assert.Equal((35m, 0m, 35m), (last.Charged.ToDecimal(), last.Held.ToDecimal(), last.Balance.ToDecimal()));
        Assert.Equal(
            (35m, 0m, 9_965m), (after.Balance.ToDecimal(), after.OnHold.ToDecimal(), after.Available.ToDecimal()));
        Assert.Equal(ErrorReasons.NotOnHold, refused.Reason());
        Assert.Equal(
            (60m, 35m, 0m),
            (found.Entry.Amount.ToDecimal(), found.Payment.Charged.ToDecimal(), found.Payment.Held.ToDecimal()));
        Assert.Equal(
            (authorised.ExpireTime, authorised.DecideTime), (found.Payment.ExpireTime, found.Entry.DecideTime));
        Assert.Equal(
            found.Entry.DecideTime.ToDateTimeOffset().AddSeconds(FieldRules.HoldSecondsDefault),
            found.Payment.ExpireTime.ToDateTimeOffset());
    }

    /// <summary>No call touches the account in between: statements are read from the event store.</summary>
    [Fact]
    public async Task What_is_left_of_a_hold_expires_once_by_itself()
    {
        var proxy = _stack.Proxy();
        var hold = Authorise(60, seconds: 1);
        await proxy.AuthorisePaymentAsync(hold);

        var statement = await Poll.UntilAsync(() => StatementAsync(hold.AccountId), statement => statement.Count > 1);

        Assert.Equal(
            [StatementEntryType.PaymentAuthorised, StatementEntryType.AuthorisationExpired],
            statement.Select(entry => entry.Type));
        Assert.Equal(
            [(60m, 60m, ""), (60m, 0m, hold.TransactionId)],
            statement.Select(entry => (entry.Amount.ToDecimal(), entry.OnHold.ToDecimal(), entry.PaymentId)));
        Assert.Equal(10_000m, await AvailableWhenReleasedAsync(hold.AccountId));
    }

    [Fact]
    public async Task A_voided_hold_is_available_again_and_is_not_captured()
    {
        var proxy = _stack.Proxy();
        var hold = Authorise(60);
        await proxy.AuthorisePaymentAsync(hold);
        var request = Void(hold);

        var voided = await proxy.VoidPaymentAsync(request);
        var again = await proxy.VoidPaymentAsync(request);
        var balance = await BalanceAsync(hold.AccountId, voided.Version);
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => proxy.CapturePaymentAsync(Capture(hold, 1)).ResponseAsync);

        Assert.Equal(voided.AsReplay(), again);
        Assert.Equal(60, voided.Released.ToDecimal());
        Assert.Equal((0m, 10_000m), (balance.OnHold.ToDecimal(), balance.Available.ToDecimal()));
        Assert.Equal(
            (ErrorReasons.NotOnHold, "payment_id"), (refused.Reason(), refused.Field()));
    }

    [Fact]
    public async Task Of_captures_at_the_same_time_as_many_are_charged_as_fit_the_hold()
    {
        var proxy = _stack.Proxy();
        var hold = Authorise(10);
        await proxy.AuthorisePaymentAsync(hold);

        var captures = await Task.WhenAll(Enumerable.Range(0, 8).Select(async _ =>
        {
            try
            {
                return (decimal?)(await proxy.CapturePaymentAsync(Capture(hold, 3))).Amount.ToDecimal();
            }
            catch (RpcException e) when (e.Reason() == ErrorReasons.AmountTooLarge)
            {
                return null;
            }
        }));

        Assert.Equal(3, captures.Count(capture => capture is not null));
        Assert.Equal(4, await _stack.CountEventsAsync(hold.AccountId));
    }

    [Fact]
    public async Task A_hold_counts_in_the_limit_of_payments_and_holds_and_a_declined_one_is_not_captured()
    {
        var proxy = _stack.Proxy();
        var hold = Authorise(9_000);
        await proxy.AuthorisePaymentAsync(hold);

        var payment = await proxy.MakePaymentAsync(StackFixture.Payment(hold.AccountId, 1_000.01m));
        var other = Authorise(1_000.01m, change: r => r.AccountId = hold.AccountId);
        var declined = await proxy.AuthorisePaymentAsync(other);
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => proxy.CapturePaymentAsync(Capture(other, 1)).ResponseAsync);

        Assert.Equal(
            (PaymentOutcome.Declined, DeclineReason.CreditLimitExceeded), (payment.Outcome, payment.DeclineReason));
        Assert.Equal(
            (PaymentOutcome.Declined, DeclineReason.CreditLimitExceeded, 9_000m),
            (declined.Outcome, declined.DeclineReason, declined.OnHold.ToDecimal()));
        Assert.Null(declined.ExpireTime);
        Assert.Equal(ErrorReasons.PaymentDeclined, refused.Reason());
    }

    [Fact]
    public async Task A_repeated_request_gets_the_same_answer_and_another_one_with_its_id_is_refused()
    {
        var proxy = _stack.Proxy();
        var (hold, payment) = (Authorise(60), StackFixture.Payment());
        var capture = Capture(hold, 20);

        var first = (await proxy.AuthorisePaymentAsync(hold), await proxy.CapturePaymentAsync(capture));
        var again = (await proxy.AuthorisePaymentAsync(hold), await proxy.CapturePaymentAsync(capture));
        payment.AccountId = hold.AccountId;
        payment.TransactionId = hold.TransactionId;
        payment.Amount = hold.Amount;
        RpcException[] refusals =
        [
            await Assert.ThrowsAsync<RpcException>(() => proxy.MakePaymentAsync(payment).ResponseAsync),
            await Assert.ThrowsAsync<RpcException>(() =>
                proxy.AuthorisePaymentAsync(Changed(hold, h => h.HoldDuration = new() { Seconds = 5 })).ResponseAsync),
            await Assert.ThrowsAsync<RpcException>(
                () => proxy.CapturePaymentAsync(Changed(capture, c => c.IsFinal = true)).ResponseAsync),
        ];

        Assert.Equal((first.Item1.AsReplay(), first.Item2.AsReplay()), again);
        Assert.All(refusals, refusal => Assert.Equal(ErrorReasons.TransactionIdReused, refusal.Reason()));
        Assert.Equal(2, await _stack.CountEventsAsync(hold.AccountId));
    }

    private async Task<decimal> AvailableWhenReleasedAsync(string account)
    {
        var released = await Poll.UntilAsync(
            () => BalanceAsync(account, 0), balance => balance.OnHold.ToDecimal() == 0);
        return released.Available.ToDecimal();
    }

    private async Task<CheckBalanceResponse> BalanceAsync(string account, long version) =>
        await _stack.Proxy().CheckBalanceAsync(
            new CheckBalanceRequest { AccountId = account, PaymentType = PaymentType.Visa, MinVersion = version });

    private async Task<List<StatementEntry>> StatementAsync(string account)
    {
        using var call = _stack.Proxy()
            .StreamStatement(new ListStatementRequest { AccountId = account, PaymentType = PaymentType.Visa });
        return await call.ResponseStream.ReadAllAsync().SelectMany(page => page.Entries).ToListAsync();
    }

    private static AuthorisePaymentRequest Authorise(
        decimal amount, int seconds = 0, Action<AuthorisePaymentRequest>? change = null) => Changed(
        new AuthorisePaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = StackFixture.NewAccount(),
            PaymentType = PaymentType.Visa,
            Amount = amount.ToMoney("USD"),
            HoldDuration = new() { Seconds = seconds },
        },
        change ?? (_ => { }));

    private static CapturePaymentRequest Capture(
        AuthorisePaymentRequest hold, decimal amount, bool isFinal = false) => new()
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = hold.AccountId,
            PaymentType = hold.PaymentType,
            PaymentId = hold.TransactionId,
            Amount = amount.ToMoney("USD"),
            IsFinal = isFinal,
        };

    private static VoidPaymentRequest Void(AuthorisePaymentRequest hold) => new()
    {
        TransactionId = Guid.NewGuid().ToString(),
        AccountId = hold.AccountId,
        PaymentType = hold.PaymentType,
        PaymentId = hold.TransactionId,
    };

    private static T Changed<T>(T request, Action<T> change)
        where T : Google.Protobuf.IDeepCloneable<T>
    {
        var other = request.Clone();
        change(other);
        return other;
    }
}

/// <summary>Over Kafka.</summary>
[Collection(OverKafka.Name)]
public sealed class HoldsOverKafka(KafkaStack stack) : Holds(stack);

/// <summary>In one process.</summary>
[Collection(InOneProcess.Name)]
public sealed class HoldsEmbedded(EmbeddedStack stack) : Holds(stack);
