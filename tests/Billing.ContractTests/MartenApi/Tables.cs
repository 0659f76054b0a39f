using System.Reflection;
using JasperFx;
using Marten.Exceptions;
using Npgsql;

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
    public async Task The_tables_of_streams_and_events_have_the_columns_that_both_implementations_read()
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
    public async Task A_store_without_automatic_creation_creates_its_tables_only_on_an_explicit_call()
    {
        await using var store = NewStore(options => options.AutoCreateSchemaObjects = AutoCreate.None);
        async Task AppendAsync()
        {
            await using var session = store.LightweightSession();
            session.Events.StartStream("visa/a", new PaymentAccepted("p1", 1));
            await session.SaveChangesAsync();
        }

        await Assert.ThrowsAnyAsync<Exception>(AppendAsync);
        Assert.Empty(await ColumnsAsync("mt_events"));

        await store.Storage.ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate.CreateOrUpdate);
        await AppendAsync();

        Assert.Single(await FetchAsync("visa/a"));
    }

    [Fact]
    public async Task The_keys_allow_one_event_per_version_and_tie_events_to_their_stream()
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
    public async Task An_event_is_stored_with_its_event_type_name_and_its_dotnet_type_name()
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
    public async Task A_store_opens_on_existing_tables()
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
    public async Task Stores_that_start_at_the_same_time_are_not_serialized_and_may_fail_on_each_others_objects()
    {
        var stores = Enumerable.Range(0, 6).Select(_ => NewStore()).ToArray();

        var outcomes = await Task.WhenAll(stores.Select(store => Task.Run(
            async () => await Record.ExceptionAsync(() => store.Storage.ApplyAllConfiguredChangesToDatabaseAsync()))));

        Assert.Contains(outcomes, outcome => outcome is null);
        Assert.All(
            outcomes.OfType<Exception>(),
            outcome => Assert.IsType<PostgresException>(Assert.IsType<MartenSchemaException>(outcome).InnerException));
        Assert.Equal(EventColumns, await ColumnsAsync("mt_events"));
        foreach (var store in stores)
        {
            await store.DisposeAsync();
        }
    }

    [Fact]
    public async Task Creating_tables_fails_when_another_transaction_creates_them_at_the_same_time()
    {
        await using var source = NpgsqlDataSource.Create(ConnectionString);
        await using var connection = await source.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using (var make = new NpgsqlCommand($"create schema {Schema}; create table {Schema}.mt_streams (id int)", connection))
        {
            await make.ExecuteNonQueryAsync();
        }

        var applying = Store.Storage.ApplyAllConfiguredChangesToDatabaseAsync();
        await WaitUntilBlockedAsync();
        await transaction.CommitAsync();

        await Assert.ThrowsAsync<MartenSchemaException>(() => applying);
    }

    /// <summary>Waits until a statement is blocked by another transaction.</summary>
    private async Task WaitUntilBlockedAsync()
    {
        while ((await QueryAsync<long>("select count(*) from pg_locks where not granted and locktype = 'transactionid'"))[0] == 0)
        {
            await Task.Delay(10, TestContext.Current.CancellationToken);
        }
    }
}
