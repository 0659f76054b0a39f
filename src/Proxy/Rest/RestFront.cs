using System.ComponentModel;
using System.Text.Json.Serialization.Metadata;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Rest;

/// <summary>The public API over HTTP/1.1 and JSON, with the same checks, admission and commands as the gRPC API.</summary>
internal sealed class RestFront(
    RequestHandler handler, QueuedPayments queued, IOptions<ProxyOptions> options, TimeProvider time)
{
    private const int PageDefault = 100;

    private readonly int _bodyBytesMax = options.Value.RequestBytesMax;

    [EndpointSummary("Charges an account")]
    [EndpointDescription("A repeated transaction_id with the same content gets the same answer; with different content, 409. With \"Prefer: respond-async\" the answer is 202 as soon as the payment is queued, and Location is the URL of its status.")]
    public async Task<IResult> PayAsync(
        [FromRoute(Name = "transaction_id"), Description("The idempotency key: a UUID.")] string transactionId, HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http);
        var body = await RestRequest.BodyAsync(http, RestJson.Default.PaymentBody, _bodyBytesMax);
        var request = new MakePaymentRequest
        {
            TransactionId = transactionId,
            AccountId = body.AccountId ?? "",
            PaymentType = RestRequest.PaymentType(body.PaymentType),
            Amount = body.Amount.ToMoney(),
        };
        if (handler.StoresCommands && RestRequest.PrefersAsync(http))
        {
            return await queued.TakeAsync(request, call, http);
        }
        return Answer(RestAnswers.Of((await handler.HandleAsync(RequestKinds.Payment, request, call)).Value), RestJson.Default.PaymentAnswer);
    }

    [EndpointSummary("Reads what an account owes and what it may still spend")]
    public async Task<IResult> BalanceAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = "min_version"), Description("The answer must cover the account's events up to this version.")] string? minVersion,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http, "min_version");
        var request = new CheckBalanceRequest
        {
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            MinVersion = RestRequest.Number("min_version", minVersion, 0),
        };
        return Answer(RestAnswers.Of((await handler.HandleAsync(RequestKinds.Balance, request, call)).Value), RestJson.Default.BalanceAnswer);
    }

    [EndpointSummary("Reads a page of an account's statement: its events, in order")]
    public async Task<IResult> StatementAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = "after_version"), Description("Leaves out the events up to and including this version.")] string? afterVersion,
        [FromQuery(Name = "limit"), Description("The most events on the page, 1 to 1000; 100 if not given.")] string? limit,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http, "after_version", "limit");
        var request = new StatementPageRequest
        {
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            AfterVersion = RestRequest.Number("after_version", afterVersion, 0),
            Limit = (int)Math.Clamp(RestRequest.Number("limit", limit, PageDefault), int.MinValue, int.MaxValue),
        };
        return Answer(RestAnswers.Of((await handler.HandleAsync(RequestKinds.Statement, request, call)).Value), RestJson.Default.StatementAnswer);
    }

    [EndpointSummary("Sets an account's credit limit")]
    public async Task<IResult> LimitAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId, HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http);
        var body = await RestRequest.BodyAsync(http, RestJson.Default.CreditLimitBody, _bodyBytesMax);
        var request = new SetCreditLimitRequest
        {
            TransactionId = body.TransactionId ?? "",
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            Limit = body.Limit.ToMoney(),
        };
        return Answer(RestAnswers.Of((await handler.HandleAsync(RequestKinds.CreditLimit, request, call)).Value), RestJson.Default.CreditLimitAnswer);
    }

    private static JsonAnswer<T> Answer<T>(T value, JsonTypeInfo<T> type) => new(value, type);
}
