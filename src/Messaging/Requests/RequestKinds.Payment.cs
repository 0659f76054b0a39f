using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>A payment.</summary>
    public static RequestKind<MakePaymentRequest, MakePaymentResponse> Payment { get; } = new()
    {
        Field = Command.RequestOneofCase.Payment,
        Scope = Scopes.PaymentsWrite,
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
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.Payment,
        WriteTo = (command, request) => command.Payment = request,
        AnswerIn = reply => reply.Payment,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
        ],
    };
}
