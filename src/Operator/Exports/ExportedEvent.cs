using System.Collections.Immutable;
using System.Text.Json;
using Billing.Auditing.Exports;
using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Operator.Exports;

/// <summary>An event as it is exported: what a statement says of it, and when and for which
/// account it was stored.</summary>
/// <param name="StoredAt">When the database began the transaction that stored it, in UTC.</param>
/// <param name="StreamId">The account's stream, e.g. <c>visa/acct-42</c>.</param>
/// <param name="Kind">The kind of event: the name under which it is stored, without the version of its shape.</param>
/// <param name="Version">Its version in the account.</param>
/// <param name="Fact">The event.</param>
/// <param name="Entry">Its own parts of a statement's entry.</param>
internal sealed record ExportedEvent(
    DateTime StoredAt, string StreamId, string Kind, long Version, AccountEvent Fact, StatementEntry Entry)
{
    /// <summary>The columns, in order; new ones come last, for programs that know them by their place.</summary>
    public static IReadOnlyList<Column> Columns { get; } =
    [
        new("stored_at", e => Time(e.StoredAt)),
        new("payment_type", e => Contracts.StreamId.Split(e.StreamId)!.Value.PaymentType),
        new("account_id", e => Contracts.StreamId.Split(e.StreamId)!.Value.AccountId, IsFromCallers: true),
        new("version", e => FormattableString.Invariant($"{e.Version}"), IsJson: true),
        new("kind", e => e.Kind),
        new("transaction_id", e => e.Fact.TransactionId.ToString()),
        new(
            "amount",
            e => e.Entry.Amount is { } amount ? EventTotals.Text(amount.ToDecimal(), amount.CurrencyCode) : null),
        new("currency", e => e.Entry.Amount?.CurrencyCode),
        new("balance", e => EventTotals.Text(e.Fact.Balance, e.Fact.AccountCurrency)),
        new("balance_currency", e => e.Fact.AccountCurrency),
        new("decline_reason", e => e.Entry.DeclineReason == DeclineReason.Unspecified
            ? null
            : JsonNamingPolicy.SnakeCaseUpper.ConvertName($"{e.Entry.DeclineReason}")),
        new("decided_at", e => Time(e.Fact.DecidedAt.UtcDateTime)),
        new("subject", e => e.Fact.By?.Subject, IsFromCallers: true),
        new("client_id", e => e.Fact.By?.ClientId, IsFromCallers: true),
        new("payment_id", e => e.Entry.PaymentId.Length == 0 ? null : e.Entry.PaymentId),
        new("on_hold", e => EventTotals.Text(e.OnHold, e.Fact.AccountCurrency)),
        new("reference", e => e.Fact.Notes?.Reference, IsFromCallers: true),
        // In the order of the names, so that the bytes of a day do not depend on who wrote it.
        new("metadata", e => e.Fact.Notes?.Metadata is { } pairs
            ? JsonSerializer.Serialize(pairs.ToImmutableSortedDictionary(StringComparer.Ordinal))
            : null, IsJson: true),
        new(
            "account_status",
            e => $"ACCOUNT_STATUS_{JsonNamingPolicy.SnakeCaseUpper.ConvertName($"{e.Fact.AccountStatus}")}"),
    ];

    /// <summary>An event of an account.</summary>
    public static ExportedEvent Of(DateTime storedAt, string streamId, long version, AccountEvent fact)
    {
        var kind = WriteKinds.Of(fact);
        var entry = new StatementEntry();
        kind.Write(fact, entry);
        return new ExportedEvent(storedAt, streamId, EventTotals.KindOf(kind.Name), version, fact, entry);
    }

    /// <summary>The amount of the payment or refund, or the new limit; zero if it has none.</summary>
    public decimal Amount => Entry.Amount?.ToDecimal() ?? 0;

    /// <summary>What is on hold on the account after it.</summary>
    public decimal OnHold => Fact.OnHold ?? 0;

    /// <summary>Its place in a day.</summary>
    public ExportedPosition Position => new(Time(StoredAt), StreamId, Version);

    /// <summary>The order of the events of a day, which is the same whatever databases the accounts are in.</summary>
    public static int Compare(ExportedEvent one, ExportedEvent other) =>
        one.StoredAt.CompareTo(other.StoredAt) is var byTime and not 0 ? byTime
        : string.CompareOrdinal(one.StreamId, other.StreamId) is var byStream and not 0 ? byStream
        : one.Version.CompareTo(other.Version);

    private static string Time(DateTime utc) => utc.ToString("O", System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>A column of an export.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Value">The value of an event; null if it has none.</param>
/// <param name="IsJson">Whether the value is JSON, such as a whole number, and no text.</param>
/// <param name="IsFromCallers">Whether callers have chosen its text.</param>
internal sealed record Column(
    string Name, Func<ExportedEvent, string?> Value, bool IsJson = false, bool IsFromCallers = false);
