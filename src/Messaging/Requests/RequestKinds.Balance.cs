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
        RepeatedIds = [],
    };

    /// <summary>A question for a balance of the past.</summary>
    public static RequestKind<GetBalanceAtRequest, GetBalanceAtResponse> BalanceAt { get; } = new()
    {
        Check = FieldRules.Check,
        KnownFields = KnownMoment,
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.BalanceAt,
        WriteTo = (command, request) => command.BalanceAt = request,
        AnswerIn = reply => reply.BalanceAt,
        RepeatedIds = [],
    };

    private static GetBalanceAtRequest KnownMoment(GetBalanceAtRequest request)
    {
        var known = new GetBalanceAtRequest { AccountId = request.AccountId, PaymentType = request.PaymentType };
        if (request.HasVersion)
        {
            known.Version = request.Version;
        }
        else
        {
            known.Time = Known(request.Time);
        }
        return known;
    }
}
