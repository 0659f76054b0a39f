using Billing.Backends.Domain;
using Billing.Contracts;

namespace Billing.Backends.EventStore;

/// <summary>Events of the wire contract as the domain states them: the way back from <see cref="RecordedEvent.ToWire"/>.
/// </summary>
public static class RecordedFact
{
    private static readonly long DecidedUnixUsMin = UnixTime.Microseconds(DateTimeOffset.MinValue);
    private static readonly long DecidedUnixUsMax = UnixTime.Microseconds(DateTimeOffset.MaxValue);

    /// <summary>The fact of an event.</summary>
    /// <returns>Null where the event holds none that this program knows, or one that no backend would have written.</returns>
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
}
