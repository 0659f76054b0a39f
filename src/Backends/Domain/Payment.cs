using Billing.V1;

namespace Billing.Backends.Domain;

/// <summary>The command to charge an account.</summary>
/// <param name="TransactionId">The idempotency key.</param>
/// <param name="Amount">More than zero.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Times">When it came here, where its client asked for that; the event keeps it.</param>
/// <param name="TraceId">The trace that it is part of, where it is traced; the event keeps it.</param>
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
