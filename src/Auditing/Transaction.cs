using System.Globalization;
using Billing.Journals;
using Billing.V1;

namespace Billing.Auditing;

/// <summary>One transaction according to an event.</summary>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Version">Its version in the stream.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="Currency">The currency (ISO 4217).</param>
/// <param name="Amount">The amount of the payment, or the new limit.</param>
/// <param name="Balance">The balance of the account after it.</param>
/// <param name="Reason">The reason of a declined payment, a number of the contract's DeclineReason;
/// 0 otherwise.</param>
internal readonly record struct Transaction(
    string StreamId, long Version, TransactionKind Kind, string Currency,
    decimal Amount, decimal Balance, int Reason = 0)
{
    /// <summary>Returns the transaction of an event.</summary>
    /// <param name="streamId">The account's stream.</param>
    /// <param name="version">The event's version.</param>
    /// <param name="fact">The event.</param>
    /// <param name="balance">The balance of the account after it.</param>
    public static Transaction Of(string streamId, long version, StoredFact fact, decimal balance) =>
        new(streamId, version, fact.Kind, fact.Currency, fact.Amount, balance, fact.Reason);

    /// <summary>Whether it is a payment, and not a credit limit.</summary>
    public bool IsPayment => Kind is TransactionKind.Accepted or TransactionKind.Declined;

    /// <summary>Returns whether a journal entry agrees with this transaction; does not compare the balance.
    /// The entry of a payment that was neither accepted nor declined has no version.</summary>
    public bool Agrees(in JournalEntry entry) =>
        StreamId == entry.StreamId && Currency == entry.Currency && Amount == entry.Amount
        && IsPayment
        && (entry.Outcome is PaymentFate.Unknown or PaymentFate.Failed
            || (Outcome == entry.Outcome && Version == entry.Version))
        && (entry.Reason == DeclineReason.Unspecified || (int)entry.Reason == Reason);

    private PaymentFate Outcome => Kind == TransactionKind.Accepted ? PaymentFate.Accepted : PaymentFate.Declined;

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{StreamId} version {Version}: {Kind} {Currency} {Amount}, balance "
            + $"{Balance}{(Reason == 0 ? "" : $", reason {Reason}")}");
}
