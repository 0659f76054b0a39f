using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The authorisation of a payment.</summary>
    public static RequestKind<AuthorisePaymentRequest, AuthorisePaymentResponse> Authorise { get; } = new()
    {
        Field = Command.RequestOneofCase.Authorise,
        Scope = Scopes.HoldsWrite,
        IsWrite = true,
        Check = FieldRules.Check,
        CheckCommand = FieldRules.CheckCommand,
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            Amount = Known(request.Amount),
            Notes = Known(request.Notes),
            HoldDuration = Known(request.HoldDuration),
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.Authorise,
        WriteTo = (command, request) => command.Authorise = request,
        AnswerIn = reply => reply.Authorise,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
        ],
    };

    /// <summary>The capture of a payment that was authorised.</summary>
    public static RequestKind<CapturePaymentRequest, CapturePaymentResponse> Capture { get; } = new()
    {
        Field = Command.RequestOneofCase.Capture,
        Scope = Scopes.HoldsCapture,
        IsWrite = true,
        Check = FieldRules.Check,
        CheckCommand = FieldRules.CheckCommand,
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            PaymentId = request.PaymentId,
            Amount = Known(request.Amount),
            Notes = Known(request.Notes),
            IsFinal = request.IsFinal,
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.Capture,
        WriteTo = (command, request) => command.Capture = request,
        AnswerIn = reply => reply.Capture,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
            new(request => request.PaymentId, answer => answer.PaymentId, (answer, id) => answer.PaymentId = id),
        ],
    };

    /// <summary>The voiding of a payment that was authorised.</summary>
    public static RequestKind<VoidPaymentRequest, VoidPaymentResponse> Void { get; } = new()
    {
        Field = Command.RequestOneofCase.Void,
        Scope = Scopes.HoldsCapture,
        IsWrite = true,
        Check = FieldRules.Check,
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            PaymentId = request.PaymentId,
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.Void,
        WriteTo = (command, request) => command.Void = request,
        AnswerIn = reply => reply.Void,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
            new(request => request.PaymentId, answer => answer.PaymentId, (answer, id) => answer.PaymentId = id),
        ],
    };

    /// <summary>The expiry of a hold, which only backends send.</summary>
    public static RequestKind<HoldExpiry, Reply> Expiry { get; } = new()
    {
        Field = Command.RequestOneofCase.Expiry,
        Scope = null,
        IsWrite = true,
        IsAnswered = false,
        Check = request =>
            FieldRules.CheckId(request.PaymentId, "payment_id")
            ?? FieldRules.CheckAccount(request.PaymentType, request.AccountId)
            ?? (UnixTime.IsDate(request.AsOfUnixUs) ? null : new FieldViolation("as_of_unix_us", "is not a time")),
        KnownFields = request => request.Clone(),
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.Expiry,
        WriteTo = (command, request) => command.Expiry = request,
        AnswerIn = _ => null,
        RepeatedIds = [],
    };
}
