using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>A balance check.</summary>
    public static RequestKind<CheckBalanceRequest, CheckBalanceResponse> Balance { get; } = new()
    {
        Field = Command.RequestOneofCase.Balance,
        Scope = Scopes.AccountsRead,
        Check = request =>
            FieldRules.CheckAccount(request.PaymentType, request.AccountId)
            ?? FieldRules.CheckNotNegative(request.MinVersion, "min_version"),
        KnownFields = request =>
            new() { AccountId = request.AccountId, PaymentType = request.PaymentType, MinVersion = request.MinVersion },
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.Balance,
        WriteTo = (command, request) => command.Balance = request,
        AnswerIn = reply => reply.Balance,
        RepeatedIds = [],
    };

    /// <summary>A question for a balance of the past.</summary>
    public static RequestKind<GetBalanceAtRequest, GetBalanceAtResponse> BalanceAt { get; } = new()
    {
        Field = Command.RequestOneofCase.BalanceAt,
        Scope = Scopes.AccountsRead,
        Check = CheckMoment,
        KnownFields = KnownMoment,
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.BalanceAt,
        WriteTo = (command, request) => command.BalanceAt = request,
        AnswerIn = reply => reply.BalanceAt,
        RepeatedIds = [],
    };

    private static FieldViolation? CheckMoment(GetBalanceAtRequest request) =>
        FieldRules.CheckAccount(request.PaymentType, request.AccountId)
        ?? (request.AtCase switch
        {
            GetBalanceAtRequest.AtOneofCase.Version => FieldRules.CheckNotNegative(request.Version, "version"),
            GetBalanceAtRequest.AtOneofCase.Time => FieldRules.CheckTime(request.Time, "time"),
            _ => new FieldViolation("version", "or time is missing"),
        });

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
