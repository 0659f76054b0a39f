using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>A refund of a payment.</summary>
    public static RequestKind<RefundPaymentRequest, RefundPaymentResponse> Refund { get; } = new()
    {
        Field = Command.RequestOneofCase.Refund,
        Scope = Scopes.PaymentsRefund,
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
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.Refund,
        WriteTo = (command, request) => command.Refund = request,
        AnswerIn = reply => reply.Refund,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
            new(request => request.PaymentId, answer => answer.PaymentId, (answer, id) => answer.PaymentId = id),
        ],
    };
}
