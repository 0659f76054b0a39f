using Billing.V1;

namespace Billing.Client;

/// <summary>One thing that happened to an account.</summary>
/// <param name="Version">Its place among all that happened, from 1.</param>
/// <param name="Type">What happened.</param>
/// <param name="Id">The id of the payment or the change of the limit; null for a change from before they had one.</param>
/// <param name="DecidedAt">When.</param>
/// <param name="Amount">The payment's amount, or the new limit.</param>
/// <param name="Balance">What the account owes after it.</param>
/// <param name="DeclineReason">Why the payment was declined; unspecified where it was not.</param>
public sealed record StatementLine(
    long Version, StatementEntryType Type, Guid? Id, DateTimeOffset DecidedAt, Amount Amount, Amount Balance,
    DeclineReason DeclineReason = DeclineReason.Unspecified)
{
    internal static StatementLine Of(StatementEntry entry) => new(
        entry.Version, entry.Type, Guid.TryParse(entry.TransactionId, out var id) ? id : null,
        entry.DecidedAt?.ToDateTimeOffset() ?? default, Amount.Of(entry.Amount), Amount.Of(entry.Balance), entry.DeclineReason);
}
