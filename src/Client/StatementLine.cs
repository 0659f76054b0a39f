using Billing.V1;

namespace Billing.Client;

/// <summary>One event of an account.</summary>
/// <param name="Version">The version of the account after the event, from 1.</param>
/// <param name="Type">The type of event.</param>
/// <param name="Id">The id of the payment or of the limit change; null for limit changes recorded before they had ids.</param>
/// <param name="DecidedAt">The time of the decision.</param>
/// <param name="Amount">The payment's amount, or the new limit.</param>
/// <param name="Balance">The account's balance after the event.</param>
/// <param name="DeclineReason">Why the payment was declined; unspecified if it was not.</param>
public sealed record StatementLine(
    long Version, StatementEntryType Type, Guid? Id, DateTimeOffset DecidedAt, Amount Amount, Amount Balance,
    DeclineReason DeclineReason = DeclineReason.Unspecified)
{
    internal static StatementLine Of(StatementEntry entry) => new(
        entry.Version, entry.Type, Guid.TryParse(entry.TransactionId, out var id) ? id : null,
        entry.DecidedAt?.ToDateTimeOffset() ?? default, Amount.Of(entry.Amount), Amount.Of(entry.Balance), entry.DeclineReason);
}
