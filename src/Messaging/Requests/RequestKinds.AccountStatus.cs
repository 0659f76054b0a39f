using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>A change of an account's status.</summary>
    public static RequestKind<SetAccountStatusRequest, SetAccountStatusResponse> AccountStatus { get; } = new()
    {
        Field = Command.RequestOneofCase.AccountStatus,
        Scope = Scopes.AccountsManage,
        IsWrite = true,
        Check = FieldRules.Check,
        KnownFields = request => new()
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            AccountStatus = request.AccountStatus,
            Notes = Known(request.Notes),
        },
        AccountOf = request => (request.PaymentType, request.AccountId),
        TransactionIdOf = request => request.TransactionId,
        RequestIn = command => command.AccountStatus,
        WriteTo = (command, request) => command.AccountStatus = request,
        AnswerIn = reply => reply.AccountStatus,
        RepeatedIds =
        [
            new(
                request => request.TransactionId, answer => answer.TransactionId,
                (answer, id) => answer.TransactionId = id),
        ],
    };
}
