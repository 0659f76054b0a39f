using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using System.Text.Json.Serialization;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>A balance check, and the question for a balance of the past. The account of the latter is in the body,
/// since addresses end up in logs of whatever is on the way.</summary>
internal sealed class BalanceRoute(RequestHandler handler, BodyRequests requests, TimeProvider time) : IRestRoute
{
    private const string MinVersion = "min_version";

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/accounts/{payment_type}/{account_id}/balance", BalanceAsync)
            .WithName("CheckBalance").Answers<AccountBalanceAnswer>(RequestKinds.Balance);
        routes.MapPost("/v1/balances/lookup", (Delegate)BalanceAtAsync)
            .WithName("GetBalanceAt").Takes<PastBalanceBody>().Answers<PastBalanceAnswer>(RequestKinds.BalanceAt);
    }

    [EndpointSummary("Reads what an account owes and what it may still spend")]
    public async Task<IResult> BalanceAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = MinVersion), Description(
            "The answer must cover the account's events up to this version.")] string? minVersion,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http, MinVersion);
        var request = new CheckBalanceRequest
        {
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            MinVersion = RestRequest.Number(MinVersion, minVersion, 0),
        };
        var answer = (await handler.HandleAsync(RequestKinds.Balance, request, call)).Value;
        return new JsonAnswer<AccountBalanceAnswer>(
            AccountBalanceAnswer.Of(answer), RestJson.Default.AccountBalanceAnswer);
    }

    [EndpointSummary("Reads what an account owed and could still spend as of a version or a time of the past")]
    public Task<IResult> BalanceAtAsync(HttpContext http) => requests.AnswerAsync(
        http, RequestKinds.BalanceAt, RestJson.Default.PastBalanceBody, body => body.ToRequest(),
        RestJson.Default.PastBalanceAnswer, PastBalanceAnswer.Of);
}

/// <summary>The body of a question for a balance of the past: with either version or time.</summary>
internal sealed class PastBalanceBody
{
    /// <summary>1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>After the event of this version; 0 for before all events. A string or a number.</summary>
    [JsonNumberHandling(JsonNumberHandling.AllowReadingFromString)]
    public long? Version { get; set; }

    /// <summary>After the last event that was decided at or before this time (RFC 3339), e.g.
    /// 2026-01-31T23:59:59Z.</summary>
    public string? Time { get; set; }

    public GetBalanceAtRequest ToRequest()
    {
        var request =
            new GetBalanceAtRequest { AccountId = AccountId ?? "", PaymentType = RestRequest.PaymentType(PaymentType) };
        if (Version is { } version)
        {
            request.Version = version;
        }
        if (RestRequest.Time("time", Time) is { } moment)
        {
            if (request.HasVersion)
            {
                throw new FailureException(
                    Failure.BadField(new FieldViolation("time", "must not be given together with version")));
            }
            request.Time = moment;
        }
        return request;
    }
}

/// <summary>An account after one of its events, or before all of them.</summary>
internal sealed class PastBalanceAnswer
{
    /// <summary>What the account owed.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What it could still spend: the credit limit minus the balance and what was on hold.</summary>
    public required MoneyJson Available { get; init; }

    /// <summary>What was on hold: authorised, and neither captured nor released.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>The most that it could owe.</summary>
    public required MoneyJson CreditLimit { get; init; }

    /// <summary>OPEN, FROZEN or CLOSED.</summary>
    public required string AccountStatus { get; init; }

    /// <summary>The version of that event; 0 before all events.</summary>
    public required long Version { get; init; }

    /// <summary>When that event was decided; absent before all events.</summary>
    public DateTime? DecideTime { get; init; }

    public static PastBalanceAnswer Of(GetBalanceAtResponse past) => new()
    {
        Balance = past.Balance.Needed().ToJson(),
        Available = past.Available.Needed().ToJson(),
        OnHold = past.OnHold.Needed().ToJson(),
        CreditLimit = past.CreditLimit.Needed().ToJson(),
        AccountStatus = Names.Of(past.AccountStatus),
        Version = past.Version,
        DecideTime = past.DecideTime.ToJsonOrNull(),
    };
}

/// <summary>What an account owes and may still spend.</summary>
internal sealed class AccountBalanceAnswer
{
    /// <summary>What the account owes.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What the account may still spend: the credit limit minus the balance and what is on hold.</summary>
    public required MoneyJson Available { get; init; }

    /// <summary>What is on hold: authorised, and neither captured nor released.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>The most that the account may owe.</summary>
    public required MoneyJson CreditLimit { get; init; }

    /// <summary>Whether it takes payments: OPEN, FROZEN or CLOSED.</summary>
    public required string AccountStatus { get; init; }

    /// <summary>The account's version that the answer reflects; 0 for an account without events.</summary>
    public required long Version { get; init; }

    /// <summary>The time as of which the answer holds.</summary>
    public required DateTime ReadTime { get; init; }

    public static AccountBalanceAnswer Of(CheckBalanceResponse response) => new()
    {
        Balance = response.Balance.Needed().ToJson(),
        Available = response.Available.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        CreditLimit = response.CreditLimit.Needed().ToJson(),
        AccountStatus = Names.Of(response.AccountStatus),
        Version = response.Version,
        ReadTime = response.ReadTime.Needed().ToJson(),
    };
}
