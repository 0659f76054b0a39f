using System.ComponentModel;
using System.Text.Json.Serialization.Metadata;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Rest;

/// <summary>The public API over HTTP/1.1 and JSON, with the same checks, admission and commands as the gRPC API.</summary>
internal sealed class RestFront(
    CommandSender sender, Admission admission, QueuedPayments queued, IOptions<ProxyOptions> options, TimeProvider time)
{
    private const int PageDefault = 100;

    private readonly int _bodyBytesMax = options.Value.RequestBytesMax;

    [EndpointSummary("Charges an account")]
    [EndpointDescription("A repeated transaction_id with the same content gets the same answer; with different content, 409. With \"Prefer: respond-async\" the answer is 202 as soon as the payment is queued, and Location is the URL of its status.")]
    public async Task<IResult> PayAsync(
        [FromRoute(Name = "transaction_id"), Description("The idempotency key: a UUID.")] string transactionId, HttpContext http)
    {
        var deadline = DeadlineOf(http);
        RestRequest.CheckQuery(http);
        var body = await RestRequest.BodyAsync(http, RestJson.Default.PaymentBody, _bodyBytesMax);
        var request = new MakePaymentRequest
        {
            TransactionId = transactionId,
            AccountId = body.AccountId ?? "",
            PaymentType = RestRequest.PaymentType(body.PaymentType),
            Amount = body.Amount.ToMoney(),
        };
        sender.Check(request, FieldRules.Check(request));
        if (sender.IsQueued && RestRequest.PrefersAsync(http))
        {
            return await queued.TakeAsync(request, deadline, http);
        }
        using var admitted = admission.Enter(Caller.Of(http), request.AccountId);
        var reply = await sender.SendAsync(
            new Command { TransactionId = transactionId, Payment = request }, deadline, admitted, http.RequestAborted);
        return Answer(RestAnswers.Of(reply.Payment ?? throw Failure.OtherReply(reply)), RestJson.Default.PaymentAnswer);
    }

    [EndpointSummary("Reads what an account owes and what it may still spend")]
    public async Task<IResult> BalanceAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = "min_version"), Description("The answer must cover the account's events up to this version.")] string? minVersion,
        HttpContext http)
    {
        var deadline = DeadlineOf(http);
        RestRequest.CheckQuery(http, "min_version");
        var request = new CheckBalanceRequest
        {
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            MinVersion = RestRequest.Number("min_version", minVersion, 0),
        };
        sender.Check(request, FieldRules.Check(request));
        using var admitted = admission.Enter(Caller.Of(http), request.AccountId);
        var reply = await sender.SendAsync(
            new Command { TransactionId = Guid.NewGuid().ToString(), Balance = request }, deadline, admitted, http.RequestAborted);
        return Answer(RestAnswers.Of(reply.Balance ?? throw Failure.OtherReply(reply)), RestJson.Default.BalanceAnswer);
    }

    [EndpointSummary("Reads a page of an account's statement: its events, in order")]
    public async Task<IResult> StatementAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = "after_version"), Description("Leaves out the events up to and including this version.")] string? afterVersion,
        [FromQuery(Name = "limit"), Description("The most events on the page, 1 to 1000; 100 if not given.")] string? limit,
        HttpContext http)
    {
        var deadline = DeadlineOf(http);
        RestRequest.CheckQuery(http, "after_version", "limit");
        var request = new StatementPageRequest
        {
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            AfterVersion = RestRequest.Number("after_version", afterVersion, 0),
            Limit = (int)Math.Clamp(RestRequest.Number("limit", limit, PageDefault), int.MinValue, int.MaxValue),
        };
        sender.Check(request, StatementPageRules.Check(request));
        using var admitted = admission.Enter(Caller.Of(http), request.AccountId);
        var page = await StatementPages.ReadAsync(sender, request, deadline, admitted, http.RequestAborted);
        return Answer(RestAnswers.Of(page), RestJson.Default.StatementAnswer);
    }

    [EndpointSummary("Sets an account's credit limit")]
    public async Task<IResult> LimitAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId, HttpContext http)
    {
        var deadline = DeadlineOf(http);
        RestRequest.CheckQuery(http);
        var body = await RestRequest.BodyAsync(http, RestJson.Default.CreditLimitBody, _bodyBytesMax);
        var request = new SetCreditLimitRequest
        {
            TransactionId = body.TransactionId ?? "",
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            Limit = body.Limit.ToMoney(),
        };
        sender.Check(request, FieldRules.Check(request));
        using var admitted = admission.Enter(Caller.Of(http), request.AccountId);
        var reply = await sender.SendAsync(
            new Command { TransactionId = request.TransactionId, CreditLimit = request }, deadline, admitted, http.RequestAborted);
        return Answer(RestAnswers.Of(reply.CreditLimit ?? throw Failure.OtherReply(reply)), RestJson.Default.CreditLimitAnswer);
    }

    private CallerDeadline DeadlineOf(HttpContext http) => new(time.GetTimestamp(), RestRequest.Timeout(http));

    private static JsonAnswer<T> Answer<T>(T value, JsonTypeInfo<T> type) => new(value, type);
}
