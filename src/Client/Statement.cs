using Billing.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Client;

/// <summary>Which lines of a statement to read.</summary>
/// <param name="From">Only events that were decided at this time or later; null for all from the first one on.</param>
/// <param name="Before">Only events that were decided before this time; null for all up to the last one.</param>
public sealed record StatementFilter(DateTimeOffset? From = null, DateTimeOffset? Before = null)
{
    /// <summary>Only events of these types; all if it is empty.</summary>
    public IReadOnlyList<StatementLineType> Types { get; init; } = [];

    internal bool Selects(StatementLine line) =>
        !(line.DecidedAt < From) && !(line.DecidedAt >= Before) && (Types.Count == 0 || Types.Contains(line.Type));

    internal ListStatementRequest Request(CardAccount account, int pageSize, string? pageToken) => new()
    {
        AccountId = account.Id,
        PaymentType = account.Type,
        StartTime = From?.ToTimestamp(),
        EndTime = Before?.ToTimestamp(),
        Types_ = { Types.Select(type => (StatementEntryType)type) },
        PageSize = pageSize,
        PageToken = pageToken ?? "",
    };
}

/// <summary>A page of a statement.</summary>
/// <param name="Lines">The lines, in order. There may be none, and pages after this one.</param>
/// <param name="NextPageToken">Gets the next page; null on the last one.</param>
public sealed record StatementPage(IReadOnlyList<StatementLine> Lines, string? NextPageToken)
{
    /// <summary>The most lines that a page may have.</summary>
    internal const int SizeMax = 1000;

    /// <summary>How many lines a page has at most if its request does not say.</summary>
    internal const int SizeDefault = 100;

    internal static StatementPage Of(ListStatementResponse answer) => new(
        [.. answer.Entries.Select(StatementLine.Of)], answer.NextPageToken.Length == 0 ? null : answer.NextPageToken);
}

/// <summary>One event of an account.</summary>
/// <param name="Version">The version of the account after the event, from 1.</param>
/// <param name="Type">The type of event.</param>
/// <param name="Id">The id of the payment, refund, hold, capture, voiding or change.
/// An expiry has an id of the platform.</param>
/// <param name="DecidedAt">The time of the decision.</param>
/// <param name="Amount">The amount that was paid, given back, put on hold, captured or released, or the new limit;
/// zero for a change of the status.</param>
/// <param name="Balance">The account's balance after the event.</param>
/// <param name="DeclineReason">Why the payment or hold was declined; null if it was not.</param>
public sealed record StatementLine(
    long Version, StatementLineType Type, Guid Id, DateTimeOffset DecidedAt, Amount Amount, Amount Balance,
    DeclineReason? DeclineReason = null)
{
    /// <summary>The id of the payment that was refunded, captured, voided or has expired;
    /// null for other lines.</summary>
    public Guid? PaymentId { get; init; }

    /// <summary>What is on hold on the account after the event.</summary>
    public Amount OnHold { get; init; } = Amount.Of(0, Balance.Currency);

    /// <summary>The account's status after the event.</summary>
    public AccountStatus Status { get; init; } = AccountStatus.Open;

    /// <summary>The subject of the token with which the request was sent. Null unless the client has the scope
    /// operations:read, and callers were authenticated then.</summary>
    public string? Subject { get; init; }

    /// <summary>The client id of that token; null if it had none.</summary>
    public string? ClientId { get; init; }

    /// <summary>What the sender keeps with the request; null for nothing.</summary>
    public Notes? Notes { get; init; }

    internal static StatementLine Of(StatementEntry entry) => new(
        entry.Version, (StatementLineType)entry.Type, Guid.Parse(entry.TransactionId),
        Outcomes.TimeOf(entry.DecideTime), Amount.Of(entry.Amount),
        Amount.Of(entry.Balance), ReasonOf(entry.DeclineReason))
    {
        PaymentId = Guid.TryParse(entry.PaymentId, out var paymentId) ? paymentId : null,
        OnHold = entry.OnHold is { } held ? Amount.Of(held) : Amount.Of(0, entry.Balance?.CurrencyCode),
        Status = (AccountStatus)entry.AccountStatus,
        Subject = entry.Principal?.Subject,
        ClientId = entry.Principal is { ClientId.Length: > 0 } by ? by.ClientId : null,
        Notes = Notes.Of(entry.Notes),
    };

    internal static DeclineReason? ReasonOf(V1.DeclineReason reason) =>
        reason == V1.DeclineReason.Unspecified ? null : (DeclineReason)reason;
}

/// <summary>What a line of a statement records. A newer platform may have further types.</summary>
public enum StatementLineType
{
    /// <summary>Not known; not valid in a filter.</summary>
    Unknown,

    /// <summary>A payment that was charged.</summary>
    PaymentAccepted,

    /// <summary>A payment that was declined.</summary>
    PaymentDeclined,

    /// <summary>A new credit limit.</summary>
    CreditLimitChanged,

    /// <summary>A refund.</summary>
    PaymentRefunded,

    /// <summary>A hold.</summary>
    PaymentAuthorised,

    /// <summary>A hold that was declined.</summary>
    AuthorisationDeclined,

    /// <summary>A capture.</summary>
    PaymentCaptured,

    /// <summary>A hold that was released by a voiding.</summary>
    AuthorisationVoided,

    /// <summary>A hold that was released at its time.</summary>
    AuthorisationExpired,

    /// <summary>Another status of the account.</summary>
    AccountStatusChanged,
}

/// <summary>What is recorded of a request.</summary>
/// <param name="Line">The line of the account's statement that records it.</param>
/// <param name="Payment">The payment that was made, held, captured, refunded, voided or has expired, as it is now;
/// null for a change of a limit or status.</param>
public sealed record FoundTransaction(StatementLine Line, PaymentTotals? Payment)
{
    internal static FoundTransaction Of(GetTransactionResponse found) =>
        new(StatementLine.Of(found.Entry), found.Payment is { } payment ? PaymentTotals.Of(payment) : null);
}

/// <summary>What has become of a payment.</summary>
/// <param name="PaymentId">Its id.</param>
/// <param name="Charged">What has been charged for it; of one that was authorised, what has been captured.</param>
/// <param name="Refunded">What has been given back of it.</param>
/// <param name="Held">What of it is on hold.</param>
/// <param name="ExpiresAt">When the hold expires or expired; null if it was not authorised first.</param>
public sealed record PaymentTotals(
    Guid PaymentId, Amount Charged, Amount Refunded, Amount Held, DateTimeOffset? ExpiresAt)
{
    internal static PaymentTotals Of(V1.PaymentTotals payment) => new(
        Guid.Parse(payment.PaymentId), Amount.Of(payment.Charged), Amount.Of(payment.Refunded), Amount.Of(payment.Held),
        payment.ExpireTime?.ToDateTimeOffset());
}
