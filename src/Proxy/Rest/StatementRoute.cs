using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using System.Text.Json.Serialization;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>A page of a statement. The account may be in the body instead, since addresses end up in logs of
/// whatever is on the way.</summary>
internal sealed class StatementRoute(RequestHandler handler, BodyRequests requests, TimeProvider time) : IRestRoute
{
    private const string StartTime = "start_time";
    private const string EndTime = "end_time";
    private const string Types = "types";
    private const string AfterVersion = "after_version";
    private const string PageSize = "page_size";
    private const string PageToken = "page_token";

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/accounts/{payment_type}/{account_id}/statement", StatementAsync)
            .WithName("GetStatement").Answers<StatementAnswer>(RequestKinds.Statement);
        routes.MapPost("/v1/statements/lookup", (Delegate)ListAsync)
            .WithName("ListStatement").Takes<StatementBody>().Answers<StatementAnswer>(RequestKinds.Statement);
    }

    [EndpointSummary(
        "Reads a page of an account's statement: all of its events, or those of a range of time or of "
        + "some types, in order")]
    [EndpointDescription("For the next page, send the same parameters with page_token.")]
    public async Task<IResult> StatementAsync(
        [FromRoute(Name = "payment_type")] string paymentType, [FromRoute(Name = "account_id")] string accountId,
        [FromQuery(Name = StartTime), Description(
            "Only events that were decided at this time (RFC 3339) or later.")] string? startTime,
        [FromQuery(
            Name = EndTime), Description("Only events that were decided before this time (RFC 3339).")] string? endTime,
        [FromQuery(Name = Types), Description("Only events of these types; all if not given.")] string[]? types,
        [FromQuery(Name = AfterVersion), Description("Only events after this version.")] string? afterVersion,
        [FromQuery(Name = PageSize), Description(
            "The most events on the page; 100 if 0 or not given, and at most 1000.")] string? pageSize,
        [FromQuery(
            Name = PageToken), Description("The next_page_token of the page before this one.")] string? pageToken,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http, StartTime, EndTime, Types, AfterVersion, PageSize, PageToken);
        var request = new ListStatementRequest
        {
            AccountId = accountId,
            PaymentType = RestRequest.PaymentType(paymentType),
            StartTime = RestRequest.Time(StartTime, startTime),
            EndTime = RestRequest.Time(EndTime, endTime),
            Types_ = { (types ?? []).Select(RestRequest.EntryType) },
            AfterVersion = RestRequest.Number(AfterVersion, afterVersion, 0),
            PageSize = (int)Math.Clamp(RestRequest.Number(PageSize, pageSize, 0), int.MinValue, int.MaxValue),
            PageToken = pageToken ?? "",
        };
        var page = await StatementPages.ReadAsync(handler, request, call);
        return new JsonAnswer<StatementAnswer>(StatementAnswer.Of(page), RestJson.Default.StatementAnswer);
    }

    [EndpointSummary("Reads a page of an account's statement, with the account in the body")]
    [EndpointDescription("For the next page, send the same body with page_token.")]
    public Task<IResult> ListAsync(HttpContext http) => requests.AnswerAsync(
        http, RestJson.Default.StatementBody, body => body.ToRequest(),
        (request, call) => StatementPages.ReadAsync(handler, request, call),
        RestJson.Default.StatementAnswer, StatementAnswer.Of);
}

/// <summary>The body of a request for a page of a statement.</summary>
internal sealed class StatementBody
{
    /// <summary>1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>Only events that were decided at this time (RFC 3339) or later, e.g. 2026-01-01T00:00:00Z.</summary>
    public string? StartTime { get; set; }

    /// <summary>Only events that were decided before this time (RFC 3339).</summary>
    public string? EndTime { get; set; }

    /// <summary>Only events of these types; all if it is empty or absent.</summary>
    public IReadOnlyList<string?>? Types { get; set; }

    /// <summary>Only events after this version; 0 leaves out none.</summary>
    [JsonNumberHandling(JsonNumberHandling.AllowReadingFromString)]
    public long AfterVersion { get; set; }

    /// <summary>The most events on the page; 100 if it is 0 or absent, and at most 1000.</summary>
    public int? PageSize { get; set; }

    /// <summary>The next_page_token of the page before this one; absent for the first page.
    /// All other fields but page_size must be as in its request.</summary>
    public string? PageToken { get; set; }

    public ListStatementRequest ToRequest() => new()
    {
        AccountId = AccountId ?? "",
        PaymentType = RestRequest.PaymentType(PaymentType),
        StartTime = RestRequest.Time("start_time", StartTime),
        EndTime = RestRequest.Time("end_time", EndTime),
        Types_ = { (Types ?? []).Select(RestRequest.EntryType) },
        AfterVersion = AfterVersion,
        PageSize = PageSize ?? 0,
        PageToken = PageToken ?? "",
    };
}

/// <summary>A page of a statement.</summary>
internal sealed class StatementAnswer
{
    /// <summary>The events, in order. There may be none, and pages after this one.</summary>
    public required IReadOnlyList<StatementEntryJson> Entries { get; init; }

    /// <summary>Gets the next page; absent from the last one.</summary>
    public string? NextPageToken { get; init; }

    public static StatementAnswer Of(ListStatementResponse page) => new()
    {
        Entries = [.. page.Entries.Select(StatementEntryJson.Of)],
        NextPageToken = page.NextPageToken.OrNull(),
    };
}

/// <summary>One event of an account.</summary>
internal sealed class StatementEntryJson
{
    /// <summary>Its position in the account's stream, from 1.</summary>
    public required long Version { get; init; }

    /// <summary>What happened.</summary>
    public required string Type { get; init; }

    /// <summary>The id of the request that caused it. An expiry has an id of the platform.</summary>
    public required string TransactionId { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The id of the payment that was refunded, captured, voided or has expired.</summary>
    public string? PaymentId { get; init; }

    /// <summary>The amount that was paid, given back, authorised, captured or released, or the new limit;
    /// absent from a change of the status.</summary>
    public MoneyJson? Amount { get; init; }

    /// <summary>If a payment or authorisation was declined, the reason: CREDIT_LIMIT_EXCEEDED, CURRENCY_MISMATCH,
    /// ACCOUNT_FROZEN or ACCOUNT_CLOSED.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>What the account owes after the event.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account after the event.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>The account's status after the event.</summary>
    public required string AccountStatus { get; init; }

    /// <summary>Who sent the request; only for callers with the scope operations:read.</summary>
    public PrincipalJson? Principal { get; init; }

    /// <summary>What its caller keeps with it.</summary>
    public NotesJson? Notes { get; init; }

    public static StatementEntryJson Of(StatementEntry entry) => new()
    {
        Version = entry.Version,
        Type = Names.Of(entry.Type),
        TransactionId = entry.TransactionId,
        PaymentId = entry.PaymentId.OrNull(),
        DecideTime = entry.DecideTime.Needed().ToJson(),
        Amount = entry.Amount.ToJson(),
        DeclineReason = Names.Of(entry.DeclineReason),
        Balance = entry.Balance.Needed().ToJson(),
        OnHold = entry.OnHold.Needed().ToJson(),
        AccountStatus = Names.Of(entry.AccountStatus),
        Principal = entry.Principal is { } by
            ? new PrincipalJson { Subject = by.Subject, ClientId = by.ClientId.OrNull() }
            : null,
        Notes = entry.Notes.ToJson(),
    };
}

/// <summary>Who sent a request, as the proxy authenticated the sender.</summary>
internal sealed class PrincipalJson
{
    /// <summary>The subject of its token, or else the client id; of a client certificate, certificate:
    /// and its common name.</summary>
    public required string Subject { get; init; }

    /// <summary>The client id of its token, if the token has one.</summary>
    public string? ClientId { get; init; }
}
