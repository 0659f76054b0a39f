using System.Runtime.CompilerServices;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Client;

/// <summary>A card account: the same id stands for different accounts on different card networks.</summary>
public sealed record CardAccount
{
    /// <summary>Creates the reference to an account.</summary>
    /// <param name="type">The card network it belongs to.</param>
    /// <param name="id">1 to 64 characters out of A-Z a-z 0-9 . _ -</param>
    /// <exception cref="ArgumentException">The type is not a card network, or the id is not of that form; the message says which.
    /// </exception>
    public CardAccount(PaymentType type, string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        Type = type;
        Id = id;
        if (FieldRules.Check(new CheckBalanceRequest { PaymentType = type, AccountId = id }) is { } violation)
        {
            throw new ArgumentException(violation.ToString(), violation.Field == "account_id" ? nameof(id) : nameof(type));
        }
    }

    /// <summary>The card network.</summary>
    public PaymentType Type { get; }

    /// <summary>The account's id on that network.</summary>
    public string Id { get; }

    /// <summary>The account as it appears in the platform's logs and events, e.g. <c>visa/acct-42</c>.</summary>
    public override string ToString() => StreamId.For(Type, Id);
}

/// <summary>The balance, the available credit and the credit limit of an account.</summary>
/// <param name="Balance">The amount owed: the sum of the accepted payments without what was given back.</param>
/// <param name="Available">The available credit: the limit less the balance and what is on hold.</param>
/// <param name="CreditLimit">The maximum balance.</param>
/// <param name="Version">The version of the account that was read; 0 if the account has no events yet.</param>
/// <param name="AsOf">The time of the reading.</param>
public sealed record AccountBalance(Amount Balance, Amount Available, Amount CreditLimit, long Version, DateTimeOffset AsOf)
{
    /// <summary>What is on hold: authorised, and neither captured nor released.</summary>
    public Amount OnHold { get; init; } = Amount.Of(0, Balance.Currency);

    /// <summary>Whether the account takes payments.</summary>
    public AccountStatus Status { get; init; } = AccountStatus.Open;

    internal static AccountBalance Of(CheckBalanceResponse answer) => new(
        Amount.Of(answer.Balance), Amount.Of(answer.Available), Amount.Of(answer.CreditLimit), answer.Version,
        answer.ReadTime?.ToDateTimeOffset() ?? default)
    {
        OnHold = answer.OnHold is { } held ? Amount.Of(held) : Amount.Of(0, answer.Balance?.CurrencyCode),
        Status = answer.AccountStatus,
    };
}

/// <summary>The balance, the available credit and the credit limit of an account as they were after one of its events, or before all of them.</summary>
/// <param name="Balance">The amount owed.</param>
/// <param name="Available">The available credit: the limit less the balance and what was on hold.</param>
/// <param name="CreditLimit">The maximum balance; until it was first set, what the platform gives to accounts today.</param>
/// <param name="OnHold">What was on hold: authorised, and neither captured nor released.</param>
/// <param name="Version">The version of that event; 0 before all events.</param>
/// <param name="DecidedAt">When that event was decided; null before all events.</param>
public sealed record FormerBalance(
    Amount Balance, Amount Available, Amount CreditLimit, Amount OnHold, long Version, DateTimeOffset? DecidedAt)
{
    /// <summary>Whether the account took payments.</summary>
    public AccountStatus Status { get; init; } = AccountStatus.Open;

    internal static FormerBalance Of(GetBalanceAtResponse answer) => new(
        Amount.Of(answer.Balance), Amount.Of(answer.Available), Amount.Of(answer.CreditLimit), Amount.Of(answer.OnHold), answer.Version,
        answer.DecideTime?.ToDateTimeOffset())
    {
        Status = answer.AccountStatus,
    };
}

/// <summary>Which lines of a statement to read.</summary>
/// <param name="From">Only events that were decided at this time or later; null for all from the first one on.</param>
/// <param name="Before">Only events that were decided before this time; null for all up to the last one.</param>
public sealed record StatementFilter(DateTimeOffset? From = null, DateTimeOffset? Before = null)
{
    /// <summary>Only events of these types; all if it is empty.</summary>
    public IReadOnlyList<StatementEntryType> Types { get; init; } = [];

    internal ListStatementRequest Request(CardAccount account, int pageSize, string? pageToken) => new()
    {
        AccountId = account.Id,
        PaymentType = account.Type,
        StartTime = From?.ToTimestamp(),
        EndTime = Before?.ToTimestamp(),
        Types_ = { Types },
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

    /// <summary>Reads page after page.</summary>
    internal static async IAsyncEnumerable<StatementLine> ReadAllAsync(
        Func<string?, Task<StatementPage>> read, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        string? next = null;
        do
        {
            var page = await read(next);
            foreach (var line in page.Lines)
            {
                cancellationToken.ThrowIfCancellationRequested();
                yield return line;
            }
            next = page.NextPageToken;
        }
        while (next is not null);
    }
}

/// <summary>One event of an account.</summary>
/// <param name="Version">The version of the account after the event, from 1.</param>
/// <param name="Type">The type of event.</param>
/// <param name="Id">The id of the payment, refund, hold, capture, voiding or change. An expiry has an id of the platform.
/// </param>
/// <param name="DecidedAt">The time of the decision.</param>
/// <param name="Amount">The amount that was paid, given back, put on hold, captured or released, or the new limit; zero for a change of the status.</param>
/// <param name="Balance">The account's balance after the event.</param>
/// <param name="DeclineReason">Why the payment or hold was declined; unspecified if it was not.</param>
public sealed record StatementLine(
    long Version, StatementEntryType Type, Guid Id, DateTimeOffset DecidedAt, Amount Amount, Amount Balance,
    DeclineReason DeclineReason = DeclineReason.Unspecified)
{
    /// <summary>The id of the payment that was refunded, captured, voided or has expired; null for other lines.</summary>
    public Guid? PaymentId { get; init; }

    /// <summary>What is on hold on the account after the event.</summary>
    public Amount? OnHold { get; init; }

    /// <summary>The account's status after the event.</summary>
    public AccountStatus? Status { get; init; }

    /// <summary>The subject of the token with which the request was sent. Null unless the client has the scope admin, and
    /// callers were authenticated then.</summary>
    public string? Subject { get; init; }

    /// <summary>The client id of that token; null if it had none.</summary>
    public string? ClientId { get; init; }

    /// <summary>What the sender keeps with the request; null for nothing.</summary>
    public Notes? Notes { get; init; }

    internal static StatementLine Of(StatementEntry entry) => new(
        entry.Version, entry.Type, Guid.Parse(entry.TransactionId),
        entry.DecideTime?.ToDateTimeOffset() ?? default, Amount.Of(entry.Amount), Amount.Of(entry.Balance), entry.DeclineReason)
    {
        PaymentId = Guid.TryParse(entry.PaymentId, out var paymentId) ? paymentId : null,
        OnHold = entry.OnHold is { } held ? Amount.Of(held) : Amount.Of(0, entry.Balance?.CurrencyCode),
        Status = entry.AccountStatus,
        Subject = entry.Principal?.Subject,
        ClientId = entry.Principal is { ClientId.Length: > 0 } by ? by.ClientId : null,
        Notes = Notes.Of(entry.Notes),
    };
}

/// <summary>A payment as it is recorded.</summary>
/// <param name="Line">The line of the account's statement that records it.</param>
/// <param name="Charged">What has been charged for it; of one that was authorised, what has been captured.</param>
/// <param name="Refunded">What has been given back of it.</param>
/// <param name="Held">What of it is on hold.</param>
/// <param name="ExpiresAt">When the hold expires or expired; null if it was not authorised first.</param>
public sealed record FoundPayment(StatementLine Line, Amount Charged, Amount Refunded, Amount Held, DateTimeOffset? ExpiresAt)
{
    internal static FoundPayment? Of(GetTransactionResponse found) =>
        found is { Entry: { PaymentId.Length: 0 } entry, Payment: { } payment }
            ? new(
                StatementLine.Of(entry), Amount.Of(payment.Charged), Amount.Of(payment.Refunded), Amount.Of(payment.Held),
                payment.ExpireTime?.ToDateTimeOffset())
            : null;
}
