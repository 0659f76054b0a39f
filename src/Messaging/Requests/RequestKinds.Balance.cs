using Billing.Contracts;
using Billing.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>A balance check.</summary>
    public static RequestKind<CheckBalanceRequest, CheckBalanceResponse> Balance { get; } = new()
    {
        Check = FieldRules.Check,
        KnownFields = request => new() { AccountId = request.AccountId, PaymentType = request.PaymentType, MinVersion = request.MinVersion },
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.Balance,
        WriteTo = (command, request) => command.Balance = request,
        AnswerIn = reply => reply.Balance,
    };
}
