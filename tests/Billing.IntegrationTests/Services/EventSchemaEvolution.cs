using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Backends.Writes;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>The recipe for an event whose shape changes (docs/storage.md): another name, and an upcast from the shape
/// that is stored. Both shapes are of this test: the first one states its amount in cents.</summary>
[Collection(OverEventStore.Name)]
public sealed class EventSchemaEvolution(EventStoreFixture store)
{
    private const string Stream = "visa/evolved";

    private static readonly DateTimeOffset Then = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private static readonly JsonSerializerOptions Options = new(JsonSerializerOptions.Default)
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    };

    private static readonly EventKind Charged = new EventKind<PaymentAccepted>(Json<PaymentAccepted>())
    {
        Name = "charged_v2",
        Outcome = "charged",
        Field = Wire.V1.Event.FactOneofCase.PaymentAccepted,
        EntryType = V1.StatementEntryType.PaymentAccepted,
        ToWire = (_, _) => { },
        ToDomain = (_, _) => null,
        ToEntry = (_, _) => { },
        Upcasts =
        [
            Upcast.Of("charged_v1", Json<ChargedInCents>(), stored =>
                new PaymentAccepted(stored.TransactionId, stored.Cents / 100m, stored.Currency, stored.DecidedAt)
                {
                    Balance = stored.Balance,
                }),
        ],
    };

    private static readonly StoredEventReader Reader = new([Charged]);

    private readonly Guid _first = Guid.NewGuid();
    private readonly Guid _second = Guid.NewGuid();

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Events_that_are_stored_in_either_shape_are_read_in_the_present_one()
    {
        var database = await StoreAsync();

        var read = new List<AccountEvent>();
        await using var source = NpgsqlDataSource.Create(database);
        await using var select = source.CreateCommand(
            $"select type, data from billing.mt_events where stream_id = '{Stream}' order by version");
        await using var rows = await select.ExecuteReaderAsync(Stop);
        while (await rows.ReadAsync(Stop))
        {
            read.Add(Reader.Read(rows.GetString(0), rows.GetFieldValue<byte[]>(1)));
        }

        Assert.Equal(Facts(), read);
        Assert.Equal(["charged_v2", "charged_v1"], Charged.Names);
    }

    /// <summary>As a release does before it is upgraded: it must not decide what comes after an event
    /// that it cannot read.</summary>
    [Fact]
    public async Task A_release_that_does_not_know_the_name_leaves_the_account_alone()
    {
        var database = await StoreAsync();

        var refusal = await Assert.ThrowsAsync<UnknownEventTypeException>(
            () => store.NewBackend(database).Database().Store.LoadAsync([Stream], EventStoreFixture.Opened, Stop));

        Assert.Contains("'charged_v2'", refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("", ",\"Balance\":1", "TransactionId")]
    [InlineData("\"TransactionId\":\"01234567-89ab-cdef-0123-456789abcdef\",", "", "Balance")]
    [InlineData("\"TransactionId\":\"01234567-89ab-cdef-0123-456789abcdef\",", ",\"Balance\":1,\"Tip\":1", "Tip")]
    public void The_stored_shape_is_read_as_strictly_as_the_present_one(string first, string last, string named)
    {
        var json = $$"""{{{first}}"Cents":100,"Currency":"USD","DecidedAt":"2026-01-31T12:00:00+00:00"{{last}}}""";

        var refusal = Assert.Throws<UnknownEventTypeException>(
            () => Reader.Read("charged_v1", Encoding.UTF8.GetBytes(json)));

        Assert.Contains(named, refusal.Message, StringComparison.Ordinal);
    }

    private List<PaymentAccepted> Facts() =>
    [
        new PaymentAccepted(_first, 1.25m, "USD", Then) { Balance = 1.25m },
        new PaymentAccepted(_second, 2, "USD", Then) { Balance = 3.25m },
    ];

    /// <summary>Stores an event of each shape.</summary>
    /// <returns>The connection string of the database.</returns>
    private async Task<string> StoreAsync()
    {
        var database = await store.NewDatabaseAsync();
        var backend = store.NewBackend(database);
        await backend.EnsureEventStoreAsync(Stop);
        var facts = Facts();
        await backend.Database().Store.AppendAsync(
            [
                Stored(1, facts[0], "charged_v1", new ChargedInCents(_first, 125, "USD", Then, 1.25m)),
                Stored(2, facts[1], "charged_v2", facts[1]),
            ],
            [], Stop);
        return database;
    }

    private static NewEvent Stored<T>(long version, AccountEvent fact, string type, T shape) => new(
        fact, EventStoreFixture.Opened with { Version = version }, RecordedEvent.ToWire(Stream, version, fact),
        new EventBody(type, typeof(T).FullName!, JsonSerializer.SerializeToUtf8Bytes(shape, Json<T>()), ""));

    private static JsonTypeInfo<T> Json<T>() => (JsonTypeInfo<T>)Options.GetTypeInfo(typeof(T));

    private sealed record ChargedInCents(
        Guid TransactionId, long Cents, string Currency, DateTimeOffset DecidedAt, decimal Balance);
}
