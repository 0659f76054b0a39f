using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using Billing.Messaging.Requests;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>A refund of a payment.</summary>
internal sealed class RefundRoute(BodyRequests requests) : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapPut("/v1/refunds/{transaction_id}", RefundAsync)
        .WithName("RefundPayment").Takes<RefundBody>().Fails(404).Answers<RefundAnswer>(RequestKinds.Refund);

    [EndpointSummary("Gives back a payment, whole or in part")]
    [EndpointDescription(
        "A repeated transaction_id with the same content gets the same answer; with different content, 409. "
        + "All refunds of a payment together are never more than the payment.")]
    public Task<IResult> RefundAsync(
        [FromRoute(Name = "transaction_id"), Description("The refund's idempotency key: a UUID.")] string transactionId,
        HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.Refund, RestJson.Default.RefundBody,
            body => new RefundPaymentRequest
            {
                TransactionId = transactionId,
                AccountId = body.AccountId ?? "",
                PaymentType = RestRequest.PaymentType(body.PaymentType),
                PaymentId = body.PaymentId ?? "",
                Amount = body.Amount.ToMoney(),
                Notes = body.Notes.ToMessage(),
            },
            RestJson.Default.RefundAnswer, RefundAnswer.Of);
}

/// <summary>The body of a refund.</summary>
internal sealed class RefundBody
{
    /// <summary>The payment's account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>The id of the payment.</summary>
    [Required]
    public string? PaymentId { get; set; }

    /// <summary>The amount to give back: more than zero, in the payment's currency, and at most what is
    /// left of the payment.</summary>
    [Required]
    public AmountJson? Amount { get; set; }

    /// <summary>What you keep with it, to match it with records of your own; a repeated request
    /// has to repeat it.</summary>
    public NotesJson? Notes { get; set; }
}

/// <summary>The answer to a refund.</summary>
internal sealed class RefundAnswer
{
    /// <summary>The refund's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The id of the payment.</summary>
    public required string PaymentId { get; init; }

    /// <summary>What was given back.</summary>
    public required MoneyJson Amount { get; init; }

    /// <summary>What has been given back of the payment, with this.</summary>
    public required MoneyJson Refunded { get; init; }

    /// <summary>What the account owes after it.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account, which this does not change.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records the refund; pass it as min_version to
    /// read your own write.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static RefundAnswer Of(RefundPaymentResponse response) => new()
    {
        TransactionId = response.TransactionId,
        PaymentId = response.PaymentId,
        Amount = response.Amount.Needed().ToJson(),
        Refunded = response.Refunded.Needed().ToJson(),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}
