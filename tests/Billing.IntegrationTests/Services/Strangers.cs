using Billing.Contracts;
using Billing.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>What a caller learns of payments and accounts that are not its own: the same as of those that do not exist.
/// </summary>
[Collection(WithTokens.Name)]
public sealed class Strangers(TokenStack stack)
{
    private static readonly string[] Scopes =
        ["payments:write", "payments:refund", "holds:write", "holds:capture", "accounts:read"];

    [Fact]
    public async Task Requests_about_a_payment_of_another_account_are_answered_as_those_about_none()
    {
        var (held, own) = (await HoldAsync(), StackFixture.NewAccount());
        var mine = TokenStack.Bearer($"visa/{own}", Scopes);

        var existing = await AskAsync(own, held.TransactionId, mine);
        var none = await AskAsync(own, Guid.NewGuid().ToString(), mine);

        Assert.Equal(none, existing);
        Assert.All(existing, told => Assert.Equal(StatusCode.NotFound, told.Status));
    }

    [Fact]
    public async Task Requests_about_another_account_are_refused_whether_or_not_it_and_its_payments_exist()
    {
        var held = await HoldAsync();
        var mine = TokenStack.Bearer($"visa/{StackFixture.NewAccount()}", Scopes);

        var existing = await AskAsync(held.AccountId, held.TransactionId, mine);
        var noPayment = await AskAsync(held.AccountId, Guid.NewGuid().ToString(), mine);
        var noAccount = await AskAsync(StackFixture.NewAccount(), held.TransactionId, mine);
        var otherNetwork = await AskAsync(
            held.AccountId, held.TransactionId, TokenStack.Bearer($"amex/{held.AccountId}", Scopes));

        Assert.All([noPayment, noAccount, otherNetwork], answers => Assert.Equal(existing, answers));
        Assert.All(existing, told => Assert.Equal(
            (StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed), (told.Status, told.Reason)));
    }

    [Fact]
    public async Task An_id_that_another_account_has_used_is_free()
    {
        var held = await HoldAsync();
        var own = StackFixture.NewAccount();

        var paid = await stack.Proxy().MakePaymentAsync(
            new(StackFixture.Payment(own)) { TransactionId = held.TransactionId },
            TokenStack.Bearer($"visa/{own}", Scopes));

        Assert.Equal((PaymentOutcome.Accepted, 1), (paid.Outcome, paid.Version));
    }

    [Fact]
    public async Task The_token_of_a_page_of_another_accounts_statement_is_refused_as_that_of_no_statement()
    {
        var held = await HoldAsync();
        await HoldAsync(held.AccountId);
        var (own, request) = (StackFixture.NewAccount(), Statement(held.AccountId));
        var page = await stack.Proxy().ListStatementAsync(request, TokenStack.Bearer("*/*", Scopes));
        var mine = TokenStack.Bearer($"visa/{own}", Scopes);

        request.PageToken = page.NextPageToken;
        var theirs = await RefusalAsync(() => stack.Proxy().ListStatementAsync(request, mine).ResponseAsync);
        var taken = await RefusalAsync(() => stack.Proxy().ListStatementAsync(
            new(Statement(own)) { PageToken = page.NextPageToken }, mine).ResponseAsync);
        var invented = await RefusalAsync(() => stack.Proxy().ListStatementAsync(
            new(Statement(own)) { PageToken = new string('A', page.NextPageToken.Length) }, mine).ResponseAsync);

        Assert.NotEmpty(page.NextPageToken);
        Assert.Equal((StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed), (theirs.Status, theirs.Reason));
        Assert.Equal((StatusCode.InvalidArgument, ErrorReasons.InvalidField), (taken.Status, taken.Reason));
        Assert.Equal(invented, taken);
    }

    private static ListStatementRequest Statement(string account) =>
        new() { AccountId = account, PaymentType = PaymentType.Visa, PageSize = 1 };

    private async Task<AuthorisePaymentRequest> HoldAsync(string? account = null)
    {
        var payment = StackFixture.Payment(account);
        var hold = new AuthorisePaymentRequest
        {
            TransactionId = payment.TransactionId,
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            Amount = payment.Amount,
        };
        var held = await stack.Proxy().AuthorisePaymentAsync(hold, TokenStack.Bearer("*/*", "holds:write"));
        Assert.Equal(PaymentOutcome.Accepted, held.Outcome);
        return hold;
    }

    // Everything that names a payment by its id.
    private async Task<List<Told>> AskAsync(string account, string payment, Metadata headers)
    {
        var proxy = stack.Proxy();
        var amount = 1m.ToMoney("USD");
        var told = new List<Told>();
        foreach (var request in (IMessage[])
        [
            new CapturePaymentRequest { PaymentId = payment, Amount = amount },
            new VoidPaymentRequest { PaymentId = payment },
            new RefundPaymentRequest { PaymentId = payment, Amount = amount },
            new GetTransactionRequest { TransactionId = payment },
        ])
        {
            Set(request, "account_id", account);
            Set(request, "payment_type", PaymentType.Visa);
            if (request is not GetTransactionRequest)
            {
                Set(request, "transaction_id", Guid.NewGuid().ToString());
            }
            told.Add(await RefusalAsync(() => request switch
            {
                CapturePaymentRequest capture => proxy.CapturePaymentAsync(capture, headers).ResponseAsync,
                VoidPaymentRequest voiding => proxy.VoidPaymentAsync(voiding, headers).ResponseAsync,
                RefundPaymentRequest refund => proxy.RefundPaymentAsync(refund, headers).ResponseAsync,
                var other => proxy.GetTransactionAsync((GetTransactionRequest)other, headers).ResponseAsync,
            }, payment));
        }
        return told;
    }

    private static void Set(IMessage request, string field, object value) =>
        request.Descriptor.FindFieldByName(field).Accessor.SetValue(request, value);

    // But for the id that was asked for.
    private static async Task<Told> RefusalAsync(Func<Task> ask, string id = "-")
    {
        var refused = await Assert.ThrowsAsync<RpcException>(ask);
        return new(
            refused.StatusCode, refused.Reason(),
            refused.Status.Detail.Replace(id, "ID", StringComparison.Ordinal));
    }

    private sealed record Told(StatusCode Status, string? Reason, string Message);
}
