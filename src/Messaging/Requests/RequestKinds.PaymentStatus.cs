using Billing.Contracts;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The question how a payment was decided. It goes to the write side, so that it is processed after the payment.</summary>
    public static RequestKind<PaymentStatusRequest, PaymentStatus> PaymentStatus { get; } = new()
    {
        IsWrite = true,
        // Whatever a proxy of any release accepted can be asked about.
        Check = request => request.Payment is null ? new FieldViolation("payment_status.payment", "is missing") : FieldRules.CheckCommand(request.Payment),
        KnownFields = request => new() { Payment = Payment.KnownFields(request.Payment), DeadlineUnixUs = request.DeadlineUnixUs },
        AccountOf = request => (request.Payment.PaymentType, request.Payment.AccountId),
        TransactionIdOf = request => request.Payment.TransactionId,
        TransactionIdField = "payment_status.payment.transaction_id",
        RequestIn = command => command.PaymentStatus,
        WriteTo = (command, request) => command.PaymentStatus = request,
        AnswerIn = reply => reply.PaymentStatus,
    };
}
