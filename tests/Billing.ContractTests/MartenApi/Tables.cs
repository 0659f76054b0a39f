using System.Reflection;
using JasperFx;

namespace Billing.ContractTests.MartenApi;

public sealed class Tables(PostgresFixture postgres) : StoreTest(postgres)
{
    private static readonly string[] EventColumns =
    [
        "bdata bytea",
        "data jsonb required",
        "id uuid required",
        "is_archived bool",
        "mt_dotnet_type varchar",
        "seq_id int8 required",
        "stream_id varchar",
        "tenant_id varchar",
        "timestamp timestamptz required",
        "type varchar 500 required",
        "version int8 required",
    ];

    [Fact]
    public async Task Streams_and_events_have_the_columns_that_both_implementations_read()
    {
        await Store.Storage.ApplyAllConfiguredChangesToDatabaseAsync();

        Assert.Equal(EventColumns, await ColumnsAsync("mt_events"));
        Assert.Equal(
            [
                "created timestamptz required",
                "id varchar required",
                "is_archived bool",
                "tenant_id varchar",
                "timestamp timestamptz required",
                "type varchar",
                "version int8",
            ],
            await ColumnsAsync("mt_streams"));
        Assert.Equal([1L], await QueryAsync<long>(
            $"select count(*) from pg_sequences where schemaname = '{Schema}' and sequencename = 'mt_events_sequence'"));
    }

    [Fact]
    public async Task A_document_class_has_a_table_of_its_own()
    {
        await Store.Storage.ApplyAllConfiguredChangesToDatabaseAsync();

        var columns = await ColumnsAsync("mt_doc_receipt");

        Assert.Equal(
            ["data", "id", "mt_dotnet_type", "mt_last_modified", "mt_version"],
            columns.Select(column => column.Split(' ')[0]));
        Assert.Contains("id varchar required", columns);
        Assert.Contains("data jsonb required", columns);
        Assert.Contains("mt_version uuid required", columns);
    }

    [Fact]
    public async Task The_keys_keep_one_event_a_version_and_events_with_their_stream()
    {
        await Store.Storage.ApplyAllConfiguredChangesToDatabaseAsync();

        Assert.Contains(
            await QueryAsync<string>($"select indexdef from pg_indexes where schemaname = '{Schema}'"),
            index => index.Contains("UNIQUE", StringComparison.Ordinal)
                && index.EndsWith("(stream_id, version)", StringComparison.Ordinal));
        Assert.Equal(
            ["FOREIGN KEY (stream_id) REFERENCES " + Schema + ".mt_streams(id) ON DELETE CASCADE"],
            await QueryAsync<string>(
                $"select pg_get_constraintdef(oid) from pg_constraint where contype = 'f' and conrelid = '{Schema}.mt_events'::regclass"));
        Assert.Equal(
            ["PRIMARY KEY (seq_id)"],
            await QueryAsync<string>(
                $"select pg_get_constraintdef(oid) from pg_constraint where contype = 'p' and conrelid = '{Schema}.mt_events'::regclass"));
    }

    [Fact]
    public async Task An_event_is_stored_under_its_names()
    {
        await StartAsync("visa/a", new PaymentDeclined("p1", Reason.Currency), new LimitChangedV2(5, "EUR"));

        var assembly = Assembly.GetExecutingAssembly().GetName().Name;
        Assert.Equal(
            [
                $"payment_declined|{typeof(PaymentDeclined).FullName}, {assembly}|*DEFAULT*|1",
                $"limit_changed_v2|{typeof(LimitChangedV2).FullName}, {assembly}|*DEFAULT*|2",
            ],
            await QueryAsync<string>(
                $"select concat_ws('|', type, mt_dotnet_type, tenant_id, version) from {Schema}.mt_events order by seq_id"));
        Assert.Equal(
            ["""{"reason": "Currency", "payment": "p1"}"""],
            await QueryAsync<string>($"select data::text from {Schema}.mt_events where version = 1"));
    }

    [Fact]
    public async Task Metadata_columns_are_made_and_filled_when_they_are_switched_on()
    {
        await using var store = NewStore(options =>
        {
            options.Events.MetadataConfig.CausationIdEnabled = true;
            options.Events.MetadataConfig.CorrelationIdEnabled = true;
            options.Events.MetadataConfig.HeadersEnabled = true;
        });
        await using var session = store.LightweightSession();
        session.CausationId = "cause";
        session.CorrelationId = "correlation";
        session.SetHeader("trace", "abc");
        session.Events.StartStream("visa/b", new PaymentAccepted("p1", 1));
        await session.SaveChangesAsync();

        var stored = Assert.Single(await session.Events.FetchStreamAsync("visa/b"));

        Assert.Equal("cause", stored.CausationId);
        Assert.Equal("correlation", stored.CorrelationId);
        Assert.Equal("abc", stored.GetHeader("trace"));
        Assert.Equal("abc", session.GetHeader("trace"));
        Assert.Equal(EventColumns.Length + 3, (await ColumnsAsync("mt_events")).Count);
    }

    [Fact]
    public async Task A_store_opens_on_tables_that_are_there()
    {
        await StartAsync("visa/c", new PaymentAccepted("p1", 1));
        await using var again = NewStore();
        await again.Storage.ApplyAllConfiguredChangesToDatabaseAsync();
        await using var session = again.LightweightSession();
        session.Events.Append("visa/c", 2, new PaymentAccepted("p2", 1));
        await session.SaveChangesAsync();

        Assert.Equal(2, (await session.Events.FetchStreamAsync("visa/c")).Count);
    }

    [Fact]
    public async Task A_store_that_may_not_make_tables_uses_those_that_are_there()
    {
        await StartAsync("visa/d", new PaymentAccepted("p1", 1));
        await using var bound = NewStore(options => options.AutoCreateSchemaObjects = AutoCreate.None);
        await using var session = bound.QuerySession();

        Assert.Single(await session.Events.FetchStreamAsync("visa/d"));
    }

    [Fact]
    public async Task Stores_that_start_at_once_make_the_tables_together()
    {
        var stores = Enumerable.Range(0, 6).Select(_ => NewStore()).ToArray();

        await Task.WhenAll(stores.Select(store => Task.Run(() => store.Storage.ApplyAllConfiguredChangesToDatabaseAsync())));

        Assert.Equal(EventColumns, await ColumnsAsync("mt_events"));
        foreach (var store in stores)
        {
            await store.DisposeAsync();
        }
    }

    [Fact]
    public async Task Everything_is_removed_and_made_again()
    {
        await StartAsync("visa/e", new PaymentAccepted("p1", 1));

        await Store.Advanced.Clean.CompletelyRemoveAllAsync();
        Assert.Empty(await ColumnsAsync("mt_events"));

        await using var again = NewStore();
        await again.Storage.ApplyAllConfiguredChangesToDatabaseAsync();
        Assert.Equal(EventColumns, await ColumnsAsync("mt_events"));
    }
}
