using Billing.Messaging.Requests;
using Billing.Proxy.Security;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>A change of a credit limit.</summary>
internal sealed class CreditLimitRoute(BodyRequests requests) : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapPut("/v1/accounts/{payment_type}/{account_id}/credit-limit", LimitAsync)
        .WithName("SetCreditLimit").Accepts<CreditLimitBody>("application/json").ForOperators().Answers<CreditLimitAnswer>(Scopes.Admin);

    [EndpointSummary("Sets an account's credit limit")]
    public Task<IResult> LimitAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId, HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.CreditLimit, RestJson.Default.CreditLimitBody,
            body => new SetCreditLimitRequest
            {
                TransactionId = body.TransactionId ?? "",
                AccountId = accountId,
                PaymentType = RestRequest.PaymentType(paymentType),
                Limit = body.Limit.ToMoney(),
            },
            RestJson.Default.CreditLimitAnswer, CreditLimitAnswer.Of);
}

/// <summary>The body of a change of a credit limit.</summary>
internal sealed class CreditLimitBody
{
    /// <summary>The idempotency key: a UUID, created once and reused for retries.</summary>
    public string? TransactionId { get; set; }

    /// <summary>The new limit: zero or more, in the account's currency.</summary>
    public MoneyJson? Limit { get; set; }
}

/// <summary>The answer to a change of a credit limit.</summary>
internal sealed class CreditLimitAnswer
{
    /// <summary>The change's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The new limit.</summary>
    public MoneyJson? Limit { get; init; }

    /// <summary>What the account owes; may be more than the limit if that was lowered.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>The version of the account that records the change.</summary>
    public required long Version { get; init; }

    public static CreditLimitAnswer Of(SetCreditLimitResponse response) => new()
    {
        TransactionId = response.TransactionId,
        Limit = response.Limit.ToJson(),
        Balance = response.Balance.ToJson(),
        Version = response.Version,
    };
}
