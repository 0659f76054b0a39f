using System.Text;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck;
using FsCheck.Fluent;
using Marten;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class EventTypesTests
{
    private static readonly Gen<AccountEvent> Events =
        from id in Generate.TransactionId
        from amount in Generate.Amount
        from at in Generate.AnyInt
        let value = amount.Units + (amount.Nanos / 1e9m)
        let time = DateTimeOffset.UnixEpoch.AddTicks(Math.Abs((long)at) * 10_000_001)
        from fact in Gen.Elements<AccountEvent>(
            new PaymentAccepted(id, value, amount.CurrencyCode, time),
            new PaymentDeclined(id, value, amount.CurrencyCode, DeclineReason.CreditLimitExceeded, time),
            new PaymentDeclined(id, value, amount.CurrencyCode, DeclineReason.CurrencyMismatch, time),
            new CreditLimitChanged(id, value, amount.CurrencyCode, time))
        select fact;

    [Fact]
    public void Every_event_is_read_as_it_was_stored()
    {
        var options = new StoreOptions();
        EventTypes.Configure(options, "billing");
        Events.Holds(fact =>
        {
            var json = options.Serializer().ToJson(fact);
            Assert.Equal(fact, EventTypes.Read(NameOf(fact), Encoding.UTF8.GetBytes(json)));
        });
    }

    [Fact]
    public void The_first_version_of_each_shape_stays_readable()
    {
        const string Id = Samples.TransactionId;
        var at = new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
        Assert.Equal(
            new PaymentAccepted(Guid.Parse(Id), 10.5m, "USD", at),
            EventTypes.Read("payment_accepted_v1", Encoding.UTF8.GetBytes(
                $$"""{"TransactionId":"{{Id}}","Amount":10.5,"Currency":"USD","DecidedAt":"2026-01-31T12:00:00+00:00"}""")));
        Assert.Equal(
            new PaymentDeclined(Guid.Parse(Id), 10.5m, "USD", DeclineReason.CurrencyMismatch, at),
            EventTypes.Read("payment_declined_v1", Encoding.UTF8.GetBytes(
                $$"""{"TransactionId":"{{Id}}","Amount":10.5,"Currency":"USD","Reason":2,"DecidedAt":"2026-01-31T12:00:00+00:00"}""")));
        Assert.Equal(
            new CreditLimitChanged(Guid.Empty, 500, "USD", at),
            EventTypes.Read("credit_limit_changed_v1", """{"Limit":500,"Currency":"USD","DecidedAt":"2026-01-31T12:00:00+00:00"}"""u8));
    }

    [Fact]
    public void The_second_version_of_a_limit_change_carries_its_transaction_id() => Assert.Equal(
        new CreditLimitChanged(Guid.Parse(Samples.TransactionId), 500, "USD", new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero)),
        EventTypes.Read("credit_limit_changed_v2", Encoding.UTF8.GetBytes(
            $$"""{"TransactionId":"{{Samples.TransactionId}}","Limit":500,"Currency":"USD","DecidedAt":"2026-01-31T12:00:00+00:00"}""")));

    [Fact]
    public void An_unknown_type_is_refused_by_its_name()
    {
        var e = Assert.Throws<InvalidOperationException>(() => EventTypes.Read("payment_accepted_v9", "{}"u8));
        Assert.Contains("'payment_accepted_v9'", e.Message, StringComparison.Ordinal);
    }

    private static string NameOf(AccountEvent fact) => fact switch
    {
        PaymentAccepted => "payment_accepted_v1",
        PaymentDeclined => "payment_declined_v1",
        _ => "credit_limit_changed_v2",
    };
}
