using System.ComponentModel.DataAnnotations;
using System.ComponentModel;
using Billing.Messaging.Requests;
using Billing.Proxy.Rest.Description;
using Billing.Proxy.Security;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>The look-up of a payment. The account is in the body, since addresses end up in logs of whatever is on the way.</summary>
internal sealed class LookupRoute(BodyRequests requests) : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapPost("/v1/payments/{transaction_id}/lookup", FindAsync)
        .WithName("GetPayment").Takes<PaymentLookupBody>().Fails(404).Answers<RecordedPaymentAnswer>(Scopes.BalancesRead);

    [EndpointSummary("Finds a payment by its transaction id")]
    [EndpointDescription("404 if the account has no such payment; it may still be under way then, if its caller has had no answer.")]
    public Task<IResult> FindAsync(
        [FromRoute(Name = "transaction_id"), Description("The payment's id.")] string transactionId, HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.Lookup, RestJson.Default.PaymentLookupBody,
            body => new GetPaymentRequest
            {
                TransactionId = transactionId,
                AccountId = body.AccountId ?? "",
                PaymentType = RestRequest.PaymentType(body.PaymentType),
            },
            RestJson.Default.RecordedPaymentAnswer, RecordedPaymentAnswer.Of);
}

/// <summary>The body of a look-up.</summary>
internal sealed class PaymentLookupBody
{
    /// <summary>The payment's account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }
}

/// <summary>A payment as it is recorded.</summary>
internal sealed class RecordedPaymentAnswer
{
    /// <summary>The payment's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>ACCEPTED, also if it was only authorised, or DECLINED.</summary>
    public required string Outcome { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>The amount that was asked for.</summary>
    public required MoneyJson Amount { get; init; }

    /// <summary>What has been charged for it; of one that was authorised, what has been captured.</summary>
    public required MoneyJson Charged { get; init; }

    /// <summary>What has been given back of it.</summary>
    public required MoneyJson Refunded { get; init; }

    /// <summary>What of it is on hold.</summary>
    public required MoneyJson Held { get; init; }

    /// <summary>When the hold expires or expired; absent from a payment that was not authorised first.</summary>
    public DateTime? ExpireTime { get; init; }

    /// <summary>What the account owed after the payment.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records the payment.</summary>
    public required long Version { get; init; }

    /// <summary>What its caller keeps with it.</summary>
    public NotesJson? Notes { get; init; }

    public static RecordedPaymentAnswer Of(GetPaymentResponse payment) => new()
    {
        TransactionId = payment.TransactionId,
        Outcome = Names.Of(payment.Outcome),
        DeclineReason = Names.Of(payment.DeclineReason),
        Amount = payment.Amount.Needed().ToJson(),
        Charged = payment.Charged.Needed().ToJson(),
        Refunded = payment.Refunded.Needed().ToJson(),
        Held = payment.Held.Needed().ToJson(),
        ExpireTime = payment.ExpireTime.ToJsonOrNull(),
        Balance = payment.Balance.Needed().ToJson(),
        DecideTime = payment.DecideTime.Needed().ToJson(),
        Version = payment.Version,
        Notes = payment.Notes.ToJson(),
    };
}
