using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Backends.EventStore;

/// <summary>Converts events between the domain and the wire contract.</summary>
public static class RecordedEvent
{
    private static readonly long DecidedUnixUsMin = UnixTime.Microseconds(DateTimeOffset.MinValue);
    private static readonly long DecidedUnixUsMax = UnixTime.Microseconds(DateTimeOffset.MaxValue);

    /// <summary>The wire event for a domain event and the account after it.</summary>
    public static Wire.V1.Event ToWire(string streamId, AccountEvent fact, Account after)
    {
        var recorded = new Wire.V1.Event
        {
            StreamId = streamId,
            Version = after.Version,
            Balance = after.Balance.ToMoney(after.Currency ?? ""),
        };
        switch (fact)
        {
            case PaymentAccepted accepted:
                recorded.TransactionId = accepted.TransactionId.ToString();
                recorded.DecidedUnixUs = UnixTime.Microseconds(accepted.DecidedAt);
                recorded.PaymentAccepted = new Wire.V1.PaymentAccepted { Amount = accepted.Amount.ToMoney(accepted.Currency) };
                break;
            case PaymentDeclined declined:
                recorded.TransactionId = declined.TransactionId.ToString();
                recorded.DecidedUnixUs = UnixTime.Microseconds(declined.DecidedAt);
                recorded.PaymentDeclined = new Wire.V1.PaymentDeclined
                {
                    Amount = declined.Amount.ToMoney(declined.Currency),
                    Reason = declined.Reason,
                };
                break;
            case CreditLimitChanged changed:
                recorded.TransactionId = changed.TransactionId == Guid.Empty ? "" : changed.TransactionId.ToString();
                recorded.DecidedUnixUs = UnixTime.Microseconds(changed.DecidedAt);
                recorded.CreditLimitChanged = new Wire.V1.CreditLimitChanged { Limit = changed.Limit.ToMoney(changed.Currency) };
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(fact), fact, "The wire contract has no such event.");
        }
        return recorded;
    }

    /// <summary>The domain event for a wire event; the reverse of <see cref="ToWire"/>.</summary>
    /// <returns>Null if this program does not know the event's type, or no backend would have written such an event.</returns>
    public static AccountEvent? ToFact(this Wire.V1.Event recorded)
    {
        var transactionId = Guid.Empty;
        if ((recorded.TransactionId.Length > 0 && !Guid.TryParse(recorded.TransactionId, out transactionId))
            || recorded.DecidedUnixUs < DecidedUnixUsMin || recorded.DecidedUnixUs > DecidedUnixUsMax)
        {
            return null;
        }
        var decidedAt = UnixTime.FromMicroseconds(recorded.DecidedUnixUs);
        return recorded.FactCase switch
        {
            Wire.V1.Event.FactOneofCase.PaymentAccepted when recorded.PaymentAccepted.Amount is { } amount =>
                new PaymentAccepted(transactionId, amount.ToDecimal(), amount.CurrencyCode, decidedAt),
            Wire.V1.Event.FactOneofCase.PaymentDeclined when recorded.PaymentDeclined.Amount is { } amount =>
                new PaymentDeclined(
                    transactionId, amount.ToDecimal(), amount.CurrencyCode, recorded.PaymentDeclined.Reason, decidedAt),
            Wire.V1.Event.FactOneofCase.CreditLimitChanged when recorded.CreditLimitChanged.Limit is { } limit =>
                new CreditLimitChanged(transactionId, limit.ToDecimal(), limit.CurrencyCode, decidedAt),
            _ => null,
        };
    }

    /// <summary>The amount of the payment that an event records.</summary>
    public static Money Amount(this Wire.V1.Event recorded) => recorded.FactCase == Wire.V1.Event.FactOneofCase.PaymentAccepted
        ? recorded.PaymentAccepted.Amount
        : recorded.PaymentDeclined.Amount;

    /// <summary>The answer to the change of the credit limit that an event records.</summary>
    public static SetCreditLimitResponse ToLimitResponse(this Wire.V1.Event recorded) => new()
    {
        TransactionId = recorded.TransactionId,
        Limit = recorded.CreditLimitChanged.Limit,
        Balance = recorded.Balance,
        Version = recorded.Version,
    };

    /// <summary>The answer to the payment that an event records.</summary>
    public static MakePaymentResponse ToResponse(this Wire.V1.Event recorded)
    {
        var response = new MakePaymentResponse
        {
            TransactionId = recorded.TransactionId,
            Outcome = PaymentOutcome.Accepted,
            Balance = recorded.Balance,
            Version = recorded.Version,
        };
        if (recorded.FactCase == Wire.V1.Event.FactOneofCase.PaymentDeclined)
        {
            response.Outcome = PaymentOutcome.Declined;
            response.DeclineReason = recorded.PaymentDeclined.Reason;
            response.Message = recorded.PaymentDeclined.Reason switch
            {
                DeclineReason.CreditLimitExceeded => "The amount is more than the account may still spend.",
                DeclineReason.CurrencyMismatch => "The account is kept in another currency.",
                _ => "The payment was declined.",
            };
        }
        return response;
    }
}
