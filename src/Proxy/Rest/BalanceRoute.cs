using System.ComponentModel;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Security;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>A balance check.</summary>
internal sealed class BalanceRoute(RequestHandler handler, TimeProvider time) : IRestRoute
{
    private const string MinVersion = "min_version";

    public void Map(IEndpointRouteBuilder routes) => routes.MapGet("/v1/accounts/{payment_type}/{account_id}/balance", BalanceAsync)
        .WithName("CheckBalance").HasNumbers(MinVersion).Answers<BalanceAnswer>(Scopes.BalancesRead);

    [EndpointSummary("Reads what an account owes and what it may still spend")]
    public async Task<IResult> BalanceAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = MinVersion), Description("The answer must cover the account's events up to this version.")] string? minVersion,
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
        return new JsonAnswer<BalanceAnswer>(BalanceAnswer.Of(answer), RestJson.Default.BalanceAnswer);
    }
}

/// <summary>What an account owes and may still spend.</summary>
internal sealed class BalanceAnswer
{
    /// <summary>What the account owes.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>What the account may still spend: the credit limit minus the balance and what is on hold.</summary>
    public MoneyJson? Available { get; init; }

    /// <summary>What is on hold: authorised, and neither captured nor released.</summary>
    public MoneyJson? OnHold { get; init; }

    /// <summary>The most that the account may owe.</summary>
    public MoneyJson? CreditLimit { get; init; }

    /// <summary>The account's version that the answer reflects; 0 for an account without events.</summary>
    public required long Version { get; init; }

    /// <summary>The time as of which the answer holds.</summary>
    public DateTime? AsOf { get; init; }

    public static BalanceAnswer Of(CheckBalanceResponse response) => new()
    {
        Balance = response.Balance.ToJson(),
        Available = response.Available.ToJson(),
        OnHold = response.OnHold.ToJson(),
        CreditLimit = response.CreditLimit.ToJson(),
        Version = response.Version,
        AsOf = response.AsOf?.ToDateTime(),
    };
}
