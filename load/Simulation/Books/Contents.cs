using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf;

namespace Billing.Simulation.Books;

/// <summary>What a request asks for. Requests under one id that differ in it are different requests.</summary>
/// <param name="Kind">The kind of request.</param>
/// <param name="Amount">The amount, the limit, or the number of the status; 0 if there is none.</param>
/// <param name="Currency">Its currency; empty if there is none.</param>
/// <param name="Notes">What its caller keeps with it.</param>
/// <param name="PaymentId">The payment that it follows; empty if it follows none.</param>
internal sealed record Contents(
    string Kind, decimal Amount = 0, string Currency = "", Notes? Notes = null, Guid PaymentId = default)
{
    /// <summary>What a request of a client asks for.</summary>
    public static Contents Of(IMessage request) => request switch
    {
        MakePaymentRequest r =>
            new("payment", ReferenceModel.Decimal(r.Amount), r.Amount.CurrencyCode, Notes.Of(r.Notes)),
        AuthorisePaymentRequest r =>
            new("authorisation", ReferenceModel.Decimal(r.Amount), r.Amount.CurrencyCode, Notes.Of(r.Notes)),
        CapturePaymentRequest r => new(
            "capture", ReferenceModel.Decimal(r.Amount), r.Amount.CurrencyCode,
            Notes.Of(r.Notes), Guid.Parse(r.PaymentId)),
        RefundPaymentRequest r => new(
            "refund", ReferenceModel.Decimal(r.Amount), r.Amount.CurrencyCode,
            Notes.Of(r.Notes), Guid.Parse(r.PaymentId)),
        VoidPaymentRequest r => new("void", PaymentId: Guid.Parse(r.PaymentId)),
        SetCreditLimitRequest r => new("limit", ReferenceModel.Decimal(r.Limit), r.Limit.CurrencyCode),
        SetAccountStatusRequest r => new("status", (int)r.AccountStatus, Notes: Notes.Of(r.Notes)),
        _ => throw new ArgumentOutOfRangeException(nameof(request), request, "It changes nothing."),
    };

    /// <summary>What a recorded event was asked for with; null for what nobody asks for.</summary>
    public static Contents? Of(AccountEvent fact) => fact switch
    {
        PaymentAccepted f => new("payment", f.Amount, f.Currency, f.Notes),
        PaymentDeclined f => new("payment", f.Amount, f.Currency, f.Notes),
        PaymentAuthorised f => new("authorisation", f.Amount, f.Currency, f.Notes),
        AuthorisationDeclined f => new("authorisation", f.Amount, f.Currency, f.Notes),
        PaymentCaptured f => new("capture", f.Amount, f.Currency, f.Notes, f.PaymentId),
        PaymentRefunded f => new("refund", f.Amount, f.Currency, f.Notes, f.PaymentId),
        AuthorisationVoided f => new("void", Notes: f.Notes, PaymentId: f.PaymentId),
        CreditLimitChanged f => new("limit", f.Limit, f.Currency, f.Notes),
        AccountStatusChanged f => new("status", (int)(f.Status ?? AccountStatus.Open), Notes: f.Notes),
        _ => null,
    };
}
