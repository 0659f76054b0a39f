using System.Globalization;
using Billing.Contracts;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The question what has become of a payment. It goes to the write side, so that it is processed after the
    /// payment.</summary>
    public static RequestKind<PaymentStatusRequest, PaymentStatus> PaymentStatus { get; } = new()
    {
        Field = Command.RequestOneofCase.PaymentStatus,
        Scope = Scopes.PaymentsWrite,
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
        FieldRules.CheckId(request.TransactionId, "transaction_id")
        ?? FieldRules.CheckAccount(request.PaymentType, request.AccountId)
        ?? (request.Fingerprint.Length == PaymentFingerprint.Bytes
            ? null
            : new FieldViolation("fingerprint", string.Create(
                CultureInfo.InvariantCulture,
                $"must have {PaymentFingerprint.Bytes} bytes; it has {request.Fingerprint.Length}")))
        ?? FieldRules.CheckNotNegative(request.Partition, "partition");
}
