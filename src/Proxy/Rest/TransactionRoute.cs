using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>The look-up of what is recorded of a request. The account is in the body, since addresses end up in logs of
/// whatever is on the way.</summary>
internal sealed class TransactionRoute(RequestHandler handler, BodyRequests requests) : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes) =>
        routes.MapPost("/v1/transactions/{transaction_id}/lookup", FindAsync)
            .WithName("GetTransaction").Takes<TransactionLookupBody>().Fails(404)
            .Answers<TransactionAnswer>(RequestKinds.Lookup);

    [EndpointSummary("Finds what is recorded of a request by its transaction id, whatever kind of request it was")]
    [EndpointDescription(
        "404 if the account has no such record; the request may still be under way then, if its caller "
        + "has had no answer.")]
    public Task<IResult> FindAsync(
        [FromRoute(Name = "transaction_id"), Description("The id of the request.")] string transactionId,
        HttpContext http) =>
        requests.AnswerAsync(
            http, RestJson.Default.TransactionLookupBody,
            body => new GetTransactionRequest
            {
                TransactionId = transactionId,
                AccountId = body.AccountId ?? "",
                PaymentType = RestRequest.PaymentType(body.PaymentType),
            },
            (request, call) => Transactions.FindAsync(handler, request, call),
            RestJson.Default.TransactionAnswer, TransactionAnswer.Of);
}

/// <summary>The body of a look-up.</summary>
internal sealed class TransactionLookupBody
{
    /// <summary>The account of the request: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }
}

/// <summary>What is recorded of a request, and what has become of its payment.</summary>
internal sealed class TransactionAnswer
{
    /// <summary>What is recorded, as in a statement.</summary>
    public required StatementEntryJson Entry { get; init; }

    /// <summary>The payment that was made, authorised, captured, refunded, voided or has expired, as it is now;
    /// absent from a change of a limit or status.</summary>
    public PaymentTotalsJson? Payment { get; init; }

    public static TransactionAnswer Of(GetTransactionResponse found) => new()
    {
        Entry = StatementEntryJson.Of(found.Entry),
        Payment = found.Payment is { } payment ? PaymentTotalsJson.Of(payment) : null,
    };
}

/// <summary>What has become of a payment.</summary>
internal sealed class PaymentTotalsJson
{
    /// <summary>The payment's id.</summary>
    public required string PaymentId { get; init; }

    /// <summary>What has been charged for it; of one that was authorised, what has been captured.</summary>
    public required MoneyJson Charged { get; init; }

    /// <summary>What has been given back of it.</summary>
    public required MoneyJson Refunded { get; init; }

    /// <summary>What of it is on hold.</summary>
    public required MoneyJson Held { get; init; }

    /// <summary>When the hold expires or expired; absent from a payment that was not authorised first.</summary>
    public DateTime? ExpireTime { get; init; }

    public static PaymentTotalsJson Of(PaymentTotals payment) => new()
    {
        PaymentId = payment.PaymentId,
        Charged = payment.Charged.Needed().ToJson(),
        Refunded = payment.Refunded.Needed().ToJson(),
        Held = payment.Held.Needed().ToJson(),
        ExpireTime = payment.ExpireTime.ToJsonOrNull(),
    };
}
