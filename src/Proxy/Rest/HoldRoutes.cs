using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using Billing.Messaging.Requests;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>Amounts on hold: authorised, captured and voided.</summary>
internal sealed class HoldRoutes(BodyRequests requests) : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapPut("/v1/authorisations/{transaction_id}", AuthoriseAsync)
            .WithName("AuthorisePayment").Takes<AuthorisationBody>()
            .Answers<AuthorisationAnswer>(RequestKinds.Authorise);
        routes.MapPut("/v1/captures/{transaction_id}", CaptureAsync)
            .WithName("CapturePayment").Takes<CaptureBody>().Fails(404).Answers<CaptureAnswer>(RequestKinds.Capture);
        routes.MapPut("/v1/voids/{transaction_id}", VoidAsync)
            .WithName("VoidPayment").Takes<VoidingBody>().Fails(404).Answers<VoidingAnswer>(RequestKinds.Void);
    }

    [EndpointSummary("Puts an amount on hold")]
    [EndpointDescription(
        "A hold lowers what the account may still spend, and not what it owes, until it is captured, "
        + "voided or expired. A repeated transaction_id with the same content gets the same answer; "
        + "with different content, 409.")]
    public Task<IResult> AuthoriseAsync(
        [FromRoute(Name = "transaction_id"), Description(
            "The idempotency key, and the payment's id: a UUID.")] string transactionId,
        HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.Authorise, RestJson.Default.AuthorisationBody,
            body => new AuthorisePaymentRequest
            {
                TransactionId = transactionId,
                AccountId = body.AccountId ?? "",
                PaymentType = RestRequest.PaymentType(body.PaymentType),
                Amount = body.Amount.ToMoney(),
                HoldDuration = RestRequest.Duration("hold_duration", body.HoldDuration),
                Notes = body.Notes.ToMessage(),
            },
            RestJson.Default.AuthorisationAnswer, AuthorisationAnswer.Of);

    [EndpointSummary("Charges what is on hold, whole or in part")]
    [EndpointDescription(
        "A repeated transaction_id with the same content gets the same answer; with different content, 409. "
        + "All captures of a payment together are never more than was put on hold.")]
    public Task<IResult> CaptureAsync(
        [FromRoute(
            Name = "transaction_id"), Description("The capture's idempotency key: a UUID.")] string transactionId,
        HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.Capture, RestJson.Default.CaptureBody,
            body => new CapturePaymentRequest
            {
                TransactionId = transactionId,
                AccountId = body.AccountId ?? "",
                PaymentType = RestRequest.PaymentType(body.PaymentType),
                PaymentId = body.PaymentId ?? "",
                Amount = body.Amount.ToMoney(),
                IsFinal = body.IsFinal,
                Notes = body.Notes.ToMessage(),
            },
            RestJson.Default.CaptureAnswer, CaptureAnswer.Of);

    [EndpointSummary("Releases what is on hold")]
    [EndpointDescription(
        "A repeated transaction_id with the same content gets the same answer; with different content, 409.")]
    public Task<IResult> VoidAsync(
        [FromRoute(Name = "transaction_id"), Description("Its idempotency key: a UUID.")] string transactionId,
        HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.Void, RestJson.Default.VoidingBody,
            body => new VoidPaymentRequest
            {
                TransactionId = transactionId,
                AccountId = body.AccountId ?? "",
                PaymentType = RestRequest.PaymentType(body.PaymentType),
                PaymentId = body.PaymentId ?? "",
            },
            RestJson.Default.VoidingAnswer, VoidingAnswer.Of);
}

/// <summary>The body of an authorisation.</summary>
internal sealed class AuthorisationBody
{
    /// <summary>The account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>The amount to put on hold: more than zero and at most 1,000,000,000 units.</summary>
    [Required]
    public AmountJson? Amount { get; set; }

    /// <summary>How long it stays on hold, e.g. 3600s: whole seconds, at most 2678400s (31 days);
    /// seven days if absent or 0s.</summary>
    public string? HoldDuration { get; set; }

    /// <summary>What you keep with it, to match it with records of your own; a repeated request
    /// has to repeat it.</summary>
    public NotesJson? Notes { get; set; }
}

/// <summary>The answer to an authorisation. A declined one is an answer, not an error.</summary>
internal sealed class AuthorisationAnswer
{
    /// <summary>The payment's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>ACCEPTED if the amount is on hold, or DECLINED.</summary>
    public required string Outcome { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>Why it was declined, for a person.</summary>
    public string? Message { get; init; }

    /// <summary>What the account owes, which a hold does not change.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account in all, with this.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When the hold expires; absent when declined.</summary>
    public DateTime? ExpireTime { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records it; pass it as min_version to read your own write.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static AuthorisationAnswer Of(AuthorisePaymentResponse response) => new()
    {
        TransactionId = response.TransactionId,
        Outcome = Names.Of(response.Outcome),
        DeclineReason = Names.Of(response.DeclineReason),
        Message = response.Message.OrNull(),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        ExpireTime = response.ExpireTime.ToJsonOrNull(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}

/// <summary>The body of a capture.</summary>
internal sealed class CaptureBody
{
    /// <summary>The payment's account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>The id of the payment that was authorised.</summary>
    [Required]
    public string? PaymentId { get; set; }

    /// <summary>The amount to charge: more than zero, in the payment's currency, and at most what is on
    /// hold of the payment.</summary>
    [Required]
    public AmountJson? Amount { get; set; }

    /// <summary>Whether this is the last capture: what is left on hold is released.</summary>
    public bool IsFinal { get; set; }

    /// <summary>What you keep with it, to match it with records of your own; a repeated request
    /// has to repeat it.</summary>
    public NotesJson? Notes { get; set; }
}

/// <summary>The answer to a capture.</summary>
internal sealed class CaptureAnswer
{
    /// <summary>The capture's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The id of the payment.</summary>
    public required string PaymentId { get; init; }

    /// <summary>What was charged.</summary>
    public required MoneyJson Amount { get; init; }

    /// <summary>What has been charged for the payment, with this.</summary>
    public required MoneyJson Charged { get; init; }

    /// <summary>What of the payment is still on hold.</summary>
    public required MoneyJson Held { get; init; }

    /// <summary>What the account owes after it.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account in all, after it.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records the capture; pass it as min_version to
    /// read your own write.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static CaptureAnswer Of(CapturePaymentResponse response) => new()
    {
        TransactionId = response.TransactionId,
        PaymentId = response.PaymentId,
        Amount = response.Amount.Needed().ToJson(),
        Charged = response.Charged.Needed().ToJson(),
        Held = response.Held.Needed().ToJson(),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}

/// <summary>The body of the voiding of a hold.</summary>
internal sealed class VoidingBody
{
    /// <summary>The payment's account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>The id of the payment that was authorised.</summary>
    [Required]
    public string? PaymentId { get; set; }
}

/// <summary>The answer to the voiding of a hold.</summary>
internal sealed class VoidingAnswer
{
    /// <summary>Its id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The id of the payment.</summary>
    public required string PaymentId { get; init; }

    /// <summary>What is not on hold any more.</summary>
    public required MoneyJson Released { get; init; }

    /// <summary>What the account owes, which this does not change.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account in all, after it.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records it; pass it as min_version to read your own write.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static VoidingAnswer Of(VoidPaymentResponse response) => new()
    {
        TransactionId = response.TransactionId,
        PaymentId = response.PaymentId,
        Released = response.Released.Needed().ToJson(),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}
