using System.Globalization;
using Billing.Client.Load;
using Billing.Contracts;
using Billing.V1;

using WireEvent = Billing.Wire.V1.Event;

namespace Billing.Auditing;

/// <summary>What a transaction did.</summary>
internal enum TransactionKind : byte
{
    Nothing,
    Accepted,
    Declined,
    LimitChanged,
}

/// <summary>One transaction, as an event or a receipt tells it.</summary>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Version">The position in it.</param>
/// <param name="Kind">What it did.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Amount">What was to be paid, or the new limit.</param>
/// <param name="Balance">What the account owes after it.</param>
/// <param name="Reason">Why it was declined, a number of the contract's DeclineReason; 0 where it was not.</param>
internal readonly record struct Transaction(
    string StreamId, long Version, TransactionKind Kind, string Currency, decimal Amount, decimal Balance, int Reason = 0)
{
    /// <summary>An event's transaction.</summary>
    /// <param name="streamId">The account's stream.</param>
    /// <param name="version">The event's position in it.</param>
    /// <param name="fact">The event.</param>
    /// <param name="balance">What the account owes after it.</param>
    public static Transaction Of(string streamId, long version, StoredFact fact, decimal balance) =>
        new(streamId, version, fact.Kind, fact.Currency, fact.Amount, balance, fact.Reason);

    /// <summary>The transaction of the event that a receipt holds.</summary>
    public static Transaction Of(WireEvent recorded)
    {
        var (kind, amount) = recorded.FactCase switch
        {
            WireEvent.FactOneofCase.PaymentAccepted => (TransactionKind.Accepted, recorded.PaymentAccepted.Amount),
            WireEvent.FactOneofCase.PaymentDeclined => (TransactionKind.Declined, recorded.PaymentDeclined.Amount),
            WireEvent.FactOneofCase.CreditLimitChanged => (TransactionKind.LimitChanged, recorded.CreditLimitChanged.Limit),
            _ => (TransactionKind.Nothing, null),
        };
        return new Transaction(
            recorded.StreamId, recorded.Version, kind, amount?.CurrencyCode ?? "", amount?.ToDecimal() ?? 0,
            recorded.Balance?.ToDecimal() ?? 0, (int)(recorded.PaymentDeclined?.Reason ?? 0));
    }

    /// <summary>Whether a client was told this, leaving the balance aside. A client without an answer was told neither
    /// outcome nor version.</summary>
    public bool Agrees(in JournalEntry told) =>
        StreamId == told.StreamId && Currency == told.Currency && Amount == told.Amount
        && Kind is TransactionKind.Accepted or TransactionKind.Declined
        && (told.Outcome == PaymentOutcome.Unspecified || (Outcome == told.Outcome && Version == told.Version))
        && (told.Reason == DeclineReason.Unspecified || (int)told.Reason == Reason);

    private PaymentOutcome Outcome =>
        Kind == TransactionKind.Accepted ? PaymentOutcome.Accepted : PaymentOutcome.Declined;

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{StreamId} version {Version}: {Kind} {Currency} {Amount}, balance {Balance}{(Reason == 0 ? "" : $", reason {Reason}")}");
}
