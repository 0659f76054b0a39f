using System.Security.Cryptography;
using Billing.Backends.Domain;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using AccountStatusChanged = Billing.Backends.Domain.AccountStatusChanged;
using AuthorisationDeclined = Billing.Backends.Domain.AuthorisationDeclined;
using PaymentAccepted = Billing.Backends.Domain.PaymentAccepted;
using PaymentDeclined = Billing.Backends.Domain.PaymentDeclined;

namespace Billing.Backends.EventStore;

/// <summary>Converts events between the domain and the wire contract.</summary>
public static class RecordedEvent
{
    private static readonly long DecidedUnixUsMin = UnixTime.Microseconds(DateTimeOffset.MinValue);
    private static readonly long DecidedUnixUsMax = UnixTime.Microseconds(DateTimeOffset.MaxValue);

    /// <summary>The wire event for a domain event.</summary>
    /// <param name="streamId">The account's stream.</param>
    /// <param name="version">The event's version.</param>
    /// <param name="fact">The event.</param>
    public static Event ToWire(string streamId, long version, AccountEvent fact)
    {
        var currency = fact.AccountCurrency ?? "";
        var recorded = new Event
        {
            StreamId = streamId,
            Version = version,
            TransactionId = fact.TransactionId.ToString(),
            DecidedUnixUs = UnixTime.Microseconds(fact.DecidedAt),
            Balance = fact.Balance.ToMoney(currency),
            OnHold = fact.OnHold?.ToMoney(currency),
            AccountStatus = fact.Status ?? AccountStatus.Unspecified,
            Notes = fact.Notes?.ToMessage(),
            Incarnation = fact.Incarnation ?? 0,
            Principal = fact.By is { } by ? new Principal { Subject = by.Subject, ClientId = by.ClientId ?? "" } : null,
        };
        if (fact.TraceId is { } traceId)
        {
            recorded.TraceId = traceId;
        }
        if (TimesOf(fact) is { } times)
        {
            recorded.Times = new EventTimes
            {
                SentUnixUs = UnixTime.Microseconds(times.SentAt),
                ReceivedUnixUs = UnixTime.Microseconds(times.ReceivedAt),
                ConsumedUnixUs = UnixTime.Microseconds(times.ConsumedAt),
            };
        }
        WriteKinds.Of(fact).Write(fact, recorded);
        return recorded;
    }

    private static RequestTimes? TimesOf(AccountEvent fact) => fact switch
    {
        PaymentAccepted accepted => accepted.Times,
        PaymentDeclined declined => declined.Times,
        _ => null,
    };

    /// <summary>States the event's hash.</summary>
    /// <param name="recorded">The event.</param>
    /// <param name="hash">In Base64, as it is stored. An administrator may have put anything there, or removed it:
    /// then it is null.</param>
    internal static Event Hashed(this Event recorded, string? hash)
    {
        Span<byte> bytes = stackalloc byte[SHA256.HashSizeInBytes];
        if (hash is not null && Convert.TryFromBase64String(hash, bytes, out var length) && length == bytes.Length)
        {
            recorded.Hash = ByteString.CopyFrom(bytes);
        }
        return recorded;
    }

    /// <summary>The domain event for a wire event, with what its kind and every event has.</summary>
    /// <returns>Null if this program does not know the event's type, or no backend would have
    /// written such an event.</returns>
    internal static AccountEvent? ToFact(this Event recorded) =>
        Guid.TryParse(recorded.TransactionId, out var transactionId) && recorded.Balance is { } balance
        && recorded.DecidedUnixUs >= DecidedUnixUsMin && recorded.DecidedUnixUs <= DecidedUnixUsMax
            ? WriteKinds.Of(recorded)?.Read(
                recorded,
                new CommonParts(transactionId, UnixTime.FromMicroseconds(recorded.DecidedUnixUs), balance.ToDecimal()))
            : null;

    /// <summary>The event as it is stored, with all that the wire event says: stored again in its place, it has the
    /// hash that it states.</summary>
    /// <returns>Null for what <see cref="ToFact"/> has no event for.</returns>
    internal static AccountEvent? ToStored(this Event recorded)
    {
        if (recorded.ToFact() is not { } fact)
        {
            return null;
        }
        fact = fact with
        {
            OnHold = recorded.OnHold?.ToDecimal(),
            Status = recorded.AccountStatus == AccountStatus.Unspecified ? null : recorded.AccountStatus,
            By = recorded.Principal is { } by
                ? new Sender(by.Subject, by.ClientId.Length > 0 ? by.ClientId : null)
                : null,
            Notes = Notes.Of(recorded.Notes),
            Incarnation = recorded.Incarnation == 0 ? null : recorded.Incarnation,
            TraceId = recorded.TraceId.Length == 0 ? null : recorded.TraceId,
        };
        var keptIn = recorded.Balance.CurrencyCode.Length == 0 ? null : recorded.Balance.CurrencyCode;
        var times = recorded.Times is not { } known ? null : new RequestTimes(
            UnixTime.FromMicroseconds(known.SentUnixUs), UnixTime.FromMicroseconds(known.ReceivedUnixUs),
            UnixTime.FromMicroseconds(known.ConsumedUnixUs));
        return fact switch
        {
            PaymentAccepted accepted => accepted with { Times = times },
            PaymentDeclined declined => declined with { Times = times, KeptIn = keptIn },
            AuthorisationDeclined declined => declined with { KeptIn = keptIn },
            AccountStatusChanged changed => changed with { KeptIn = keptIn },
            _ => fact,
        };
    }
}
