using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Backends.Balances;

/// <summary>Creates events as a payment backend publishes them.</summary>
internal static class History
{
    private static readonly DateTimeOffset DecidedAt = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    /// <summary>Returns events of accepted payments in dollars on an account opened with a limit of 1000.</summary>
    public static List<Event> Of(string streamId, params decimal[] amounts) => Of(
        streamId,
        amounts.Select(
            a => (AccountEvent)new Billing.Backends.Domain.PaymentAccepted(Guid.NewGuid(), a, "USD", DecidedAt)
            {
                Balance = 0,
            }));

    /// <summary>Returns the events of any facts on an account opened with a limit of 1000.</summary>
    public static List<Event> Of(string streamId, IEnumerable<AccountEvent> facts) =>
        [.. facts.StatedOn(Limits.Opened(1000)).Select((fact, i) => RecordedEvent.ToWire(streamId, i + 1, fact))];
}
