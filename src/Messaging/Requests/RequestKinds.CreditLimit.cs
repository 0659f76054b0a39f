using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>A change of a credit limit.</summary>
    public static RequestKind<SetCreditLimitRequest, SetCreditLimitResponse> CreditLimit { get; } = new()
    {
        Field = Command.RequestOneofCase.CreditLimit,
        Scope = Scopes.AccountsManage,
        IsWrite = true,
        Check = FieldRules.Check,
        CheckCommand = FieldRules.CheckCommand,
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            Limit = Known(request.Limit),
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.CreditLimit,
        WriteTo = (command, request) => command.CreditLimit = request,
        AnswerIn = reply => reply.CreditLimit,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
        ],
    };
}
