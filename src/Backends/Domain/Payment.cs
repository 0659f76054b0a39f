using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>The command to charge an account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Times">When it was sent, received and consumed, if its client asked for timing; stored with the event.</param>
/// <param name="TraceId">The id of its trace if it is traced; stored with the event.</param>
public sealed record Payment(
    Guid TransactionId, decimal Amount, string Currency, RequestTimes? Times = null, string? TraceId = null)
    : AccountCommand(TransactionId)
{
    /// <inheritdoc/>
    /// <returns>The payment, accepted or declined; never null.</returns>
    public override AccountEvent Decide(Account account, DateTimeOffset now)
    {
        if (account.Currency is { } currency && currency != Currency)
        {
            return new PaymentDeclined(TransactionId, Amount, Currency, DeclineReason.CurrencyMismatch, now, Times, TraceId);
        }
        return Amount > account.CreditLimit - account.Balance
            ? new PaymentDeclined(TransactionId, Amount, Currency, DeclineReason.CreditLimitExceeded, now, Times, TraceId)
            : new PaymentAccepted(TransactionId, Amount, Currency, now, Times, TraceId);
    }
}
