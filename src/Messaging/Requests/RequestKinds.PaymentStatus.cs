using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The question what has become of a payment. It goes to the write side, so that it is processed after the
    /// payment.</summary>
    public static RequestKind<PaymentStatusRequest, PaymentStatus> PaymentStatus { get; } = new()
    {
        IsWrite = true,
        Check = CheckQuestion,
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            Fingerprint = request.Fingerprint,
            Partition = request.Partition,
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        TransactionIdField = "payment_status.transaction_id",
        RequestIn = command => command.PaymentStatus,
        WriteTo = (command, request) => command.PaymentStatus = request,
        AnswerIn = reply => reply.PaymentStatus,
        // A payment that failed is not in the answer.
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.Payment?.TransactionId,
                (answer, id) => answer.Payment.TransactionId = id),
        ],
    };

    private static FieldViolation? CheckQuestion(PaymentStatusRequest request) =>
        FieldRules.Check(new GetTransactionRequest
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
        })
        ?? (request.Fingerprint.Length == PaymentFingerprint.Bytes
            ? null
            : new FieldViolation("fingerprint", string.Create(
                CultureInfo.InvariantCulture, $"must have {PaymentFingerprint.Bytes} bytes; it has {request.Fingerprint.Length}")))
        ?? (request.Partition >= 0 ? null : new FieldViolation("partition", "must not be negative"));
}
