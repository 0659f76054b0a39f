using System.ComponentModel.DataAnnotations;
using Billing.Messaging.Requests;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>What operators change of an account: its credit limit and its status.</summary>
internal sealed class OperatorRoutes(BodyRequests requests) : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapPut("/v1/accounts/{payment_type}/{account_id}/credit-limit", LimitAsync)
            .WithName("SetCreditLimit").Takes<CreditLimitBody>()
            .Answers<CreditLimitChangeAnswer>(RequestKinds.CreditLimit);
        routes.MapPut("/v1/accounts/{payment_type}/{account_id}/status", StatusAsync)
            .WithName("SetAccountStatus").Takes<AccountStatusBody>()
            .Answers<AccountStatusChangeAnswer>(RequestKinds.AccountStatus);
    }

    [EndpointSummary("Sets an account's credit limit")]
    public Task<IResult> LimitAsync(
        [FromRoute(Name = "payment_type")] string paymentType,
        [FromRoute(Name = "account_id")] string accountId, HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.CreditLimit, RestJson.Default.CreditLimitBody,
            body => new SetCreditLimitRequest
            {
                TransactionId = body.TransactionId ?? "",
                AccountId = accountId,
                PaymentType = RestRequest.PaymentType(paymentType),
                Limit = body.Limit.ToMoney(),
            },
            RestJson.Default.CreditLimitChangeAnswer, CreditLimitChangeAnswer.Of);

    [EndpointSummary("Freezes, closes or reopens an account")]
    [EndpointDescription(
        "Payments and authorisations of an account that is frozen or closed are declined; all else goes on. "
        + "An account that owes something, or has something on hold, cannot be closed.")]
    public Task<IResult> StatusAsync(
        [FromRoute(Name = "payment_type")] string paymentType,
        [FromRoute(Name = "account_id")] string accountId, HttpContext http) =>
        requests.AnswerAsync(
            http, RequestKinds.AccountStatus, RestJson.Default.AccountStatusBody,
            body => new SetAccountStatusRequest
            {
                TransactionId = body.TransactionId ?? "",
                AccountId = accountId,
                PaymentType = RestRequest.PaymentType(paymentType),
                AccountStatus = RestRequest.AccountStatus(body.AccountStatus),
                Notes = body.Notes.ToMessage(),
            },
            RestJson.Default.AccountStatusChangeAnswer, AccountStatusChangeAnswer.Of);
}

/// <summary>The body of a change of a credit limit.</summary>
internal sealed class CreditLimitBody
{
    /// <summary>The idempotency key: a UUID, created once and reused for retries.</summary>
    [Required]
    public string? TransactionId { get; set; }

    /// <summary>The new limit: zero or more, in the account's currency.</summary>
    [Required]
    public AmountJson? Limit { get; set; }
}

/// <summary>The answer to a change of a credit limit.</summary>
internal sealed class CreditLimitChangeAnswer
{
    /// <summary>The change's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The new limit.</summary>
    public required MoneyJson Limit { get; init; }

    /// <summary>What the account owes; may be more than the limit if that was lowered.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account, which this does not change.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records the change.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static CreditLimitChangeAnswer Of(SetCreditLimitResponse response) => new()
    {
        TransactionId = response.TransactionId,
        Limit = response.Limit.Needed().ToJson(),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}

/// <summary>The body of a change of an account's status.</summary>
internal sealed class AccountStatusBody
{
    /// <summary>The idempotency key: a UUID, created once and reused for retries.</summary>
    [Required]
    public string? TransactionId { get; set; }

    /// <summary>OPEN, FROZEN or CLOSED.</summary>
    [Required]
    public string? AccountStatus { get; set; }

    /// <summary>What you keep with it, e.g. the number of the case; a repeated request has to repeat it.</summary>
    public NotesJson? Notes { get; set; }
}

/// <summary>The answer to a change of an account's status.</summary>
internal sealed class AccountStatusChangeAnswer
{
    /// <summary>The change's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The new status.</summary>
    public required string AccountStatus { get; init; }

    /// <summary>What the account owes.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records the change.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static AccountStatusChangeAnswer Of(SetAccountStatusResponse response) => new()
    {
        TransactionId = response.TransactionId,
        AccountStatus = Names.Of(response.AccountStatus),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}
