using System.Text;
using System.Text.Json.Nodes;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck;
using FsCheck.Fluent;
using Marten;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class EventTypesTests
{
    /// <summary>Events with all that they may state.</summary>
    internal static readonly Gen<AccountEvent> Events =
        from id in Generate.TransactionId
        from amount in Generate.Amount
        from at in Generate.AnyInt
        let value = amount.Units + (amount.Nanos / 1e9m)
        let time = DateTimeOffset.UnixEpoch.AddTicks(Math.Abs((long)at) * 10_000_001)
        let times = new RequestTimes(time.AddMicroseconds(-3), time.AddMicroseconds(-2), time)
        let currency = amount.CurrencyCode
        from fact in Gen.Elements<AccountEvent>(
            new PaymentAccepted(id, value, currency, time) { Balance = value },
            new PaymentAccepted(id, value, currency, time, times) { Balance = value },
            new PaymentDeclined(id, value, currency, DeclineReason.CreditLimitExceeded, time) { Balance = value },
            new PaymentDeclined(id, value, currency, DeclineReason.CurrencyMismatch, time) { Balance = value },
            new CreditLimitChanged(id, value, currency, time) { Balance = value },
            new AccountStatusChanged(id, time) { Balance = value, KeptIn = currency })
        from status in Gen.Elements<AccountStatus?>(null, AccountStatus.Frozen, AccountStatus.Closed)
        from sender in Gen.Elements<Sender?>(null, new Sender("alice"), new Sender("Zoë \"\\\U0001F4B3", "web"))
        from notes in Gen.Elements<Notes?>(null, new Notes("order 7"), new Notes(
            null, new Dictionary<string, string> { ["shop"] = "Z\u00FCrich \"1\"", ["a"] = "" }))
        select fact with { By = sender, Notes = notes, Status = status };

    private readonly StoreOptions _options = new();

    public EventTypesTests() => EventTypes.Configure(_options, "billing");

    [Fact]
    public void Every_event_is_read_as_it_was_stored() => Events.Holds(
        fact => Assert.Equal(fact, EventTypes.Read(NameOf(fact), Encoding.UTF8.GetBytes(Json(fact)))));

    /// <summary>What is stored once must stay readable.</summary>
    [Theory]
    [MemberData(nameof(SampleHistory.Kinds), MemberType = typeof(SampleHistory))]
    public void Events_are_stored_in_the_form_that_is_recorded(string kind)
    {
        SampleHistory.AssertRecorded("stored", kind, e => Encoding.UTF8.GetString(e.Body.Json.Span));

        Assert.All(SampleHistory.Events.Where(e => e.Event.Body.Type == kind), e =>
        {
            var (account, stored) = e;
            var read = EventTypes.Read(kind, stored.Body.Json.Span);
            var again = EventChain.Append(account.Head, SampleHistory.Stream, stored.Recorded.Version, read);
            Assert.Equal((stored.Fact, stored.Body.Hash), (read, again.Hash));
        });
    }

    [Fact]
    public void The_event_of_a_timed_payment_contains_its_times_in_a_format_that_databases_can_read()
    {
        var at = new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
        var times = new RequestTimes(at.AddMicroseconds(-1500), at.AddMicroseconds(-1000), at.AddMicroseconds(-1));
        Assert.EndsWith(
            ",\"Times\":{\"SentAt\":\"2026-01-31T11:59:59.9985+00:00\",\"ReceivedAt\":\"2026-01-31T11:59:59.999+00:"
                + "00\",\"ConsumedAt\":\"2026-01-31T11:59:59.999999+00:00\"},\"Balance\":12}",
            Json(new PaymentAccepted(Guid.Parse(Samples.TransactionId), 10.5m, "USD", at, times) { Balance = 12 }),
            StringComparison.Ordinal);
    }

    [Fact]
    public void An_unknown_type_is_refused_and_named_in_the_error()
    {
        var e = Assert.Throws<UnknownEventTypeException>(() => EventTypes.Read("payment_accepted_v9", "{}"u8));
        Assert.Contains("'payment_accepted_v9'", e.Message, StringComparison.Ordinal);
    }

    /// <summary>As a newer release writes them, before this one is used again.</summary>
    [Fact]
    public void An_event_with_a_member_that_this_release_does_not_know_is_refused_as_one_of_an_unknown_type() => (
        from fact in Events
        from member in Gen.Elements("""{"Frozen":3,""", """{"hash":"x",""", """{"Overdraft":{"Limit":1},""")
        select (fact, member)).Holds(newer =>
    {
        var e = Assert.Throws<UnknownEventTypeException>(
            () => EventTypes.Read(NameOf(newer.fact), Encoding.UTF8.GetBytes(newer.member + Json(newer.fact)[1..])));
        Assert.Contains($"'{NameOf(newer.fact)}'", e.Message, StringComparison.Ordinal);
        Assert.Contains(newer.member.Split('"')[1], e.Message, StringComparison.Ordinal);
    });

    [Theory]
    [InlineData("By", """{"Subject":"alice","Team":"blue"}""")]
    [InlineData("Notes", """{"Reference":"order 7","Colour":"blue"}""")]
    [InlineData(
        "Times",
        """{"SentAt":"2026-01-31T12:00:00+00:00","ReceivedAt":"2026-01-31T12:00:00+00:"""
            + """00","ConsumedAt":"2026-01-31T12:00:00+00:00","StoredAt":"2026-01-31T12:00:00+00:00"}""")]
    public void So_is_one_with_such_a_member_within_another(string name, string value) =>
        Assert.Throws<UnknownEventTypeException>(() => EventTypes.Read(
            "payment_accepted_v1",
            Encoding.UTF8.GetBytes(
                $$"""{"TransactionId":"{{Samples.TransactionId}}","Amount":"""
                + """10.5,"Currency":"USD","DecidedAt":"2026-01-31T12:00:00+00:00","Balance":"""
                + $$"""12,"{{name}}":{{value}}}""")));

    [Theory]
    [InlineData("Amount")]
    [InlineData("Balance")]
    [InlineData("TransactionId")]
    public void An_event_that_lacks_a_member_is_refused_and_the_error_names_the_member(string name)
    {
        var accepted = new PaymentAccepted(Guid.Parse(Samples.TransactionId), 10.5m, "USD", DateTimeOffset.UnixEpoch)
        {
            Balance = 12,
        };
        var json = JsonNode.Parse(Json(accepted))!.AsObject();
        json.Remove(name);

        var e = Assert.Throws<UnknownEventTypeException>(
            () => EventTypes.Read("payment_accepted_v1", Encoding.UTF8.GetBytes(json.ToJsonString())));

        Assert.Contains("'payment_accepted_v1'", e.Message, StringComparison.Ordinal);
        Assert.Contains($"'{name}'", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_hash_of_an_event_is_passed_over() => Events.Holds(fact => Assert.Equal(
        fact, EventTypes.Read(NameOf(fact), Encoding.UTF8.GetBytes(Json(fact)[..^1] + ",\"Hash\":\"abc=\"}"))));

    private string Json(AccountEvent fact) => _options.Serializer().ToJson(fact);

    private static string NameOf(AccountEvent fact) => fact switch
    {
        PaymentAccepted => "payment_accepted_v1",
        PaymentDeclined => "payment_declined_v1",
        AccountStatusChanged => "account_status_changed_v1",
        _ => "credit_limit_changed_v1",
    };
}
