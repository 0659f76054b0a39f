using JasperFx.Events;
using Marten;
using Npgsql;
using Weasel.Core;

namespace Billing.ContractTests.MartenApi;

/// <summary>A store in the test class's own schema, empty at the start of each test.</summary>
public abstract class StoreTest(PostgresFixture postgres) : IAsyncLifetime
{
    protected DocumentStore Store { get; private set; } = null!;

    protected string ConnectionString => postgres.ConnectionString;

    protected string Schema => $"marten_{GetType().Name}".ToLowerInvariant();

    public async ValueTask InitializeAsync()
    {
        await ExecuteAsync($"drop schema if exists {Schema} cascade");
        Store = NewStore();
    }

    public async ValueTask DisposeAsync()
    {
        await Store.DisposeAsync();
        await ExecuteAsync($"drop schema if exists {Schema} cascade");
        GC.SuppressFinalize(this);
    }

    protected DocumentStore NewStore(Action<StoreOptions>? configure = null) => DocumentStore.For(options =>
    {
        options.Connection(ConnectionString);
        options.DatabaseSchemaName = Schema;
        options.DisableNpgsqlLogging = true;
        options.UseSystemTextJsonForSerialization(EnumStorage.AsString, Casing.CamelCase);
        options.Events.StreamIdentity = StreamIdentity.AsString;
        options.Events.AppendMode = EventAppendMode.Quick;
        options.Events.MapEventType<PaymentAccepted>("payment_accepted");
        var type = new PaymentDeclined("", Reason.Limit).GetType();
        options.Events.MapEventType(type, "payment_declined");
        options.Events.MapEventType<LimitChangedV2>("limit_changed_v2");
        configure?.Invoke(options);
    });

    protected async Task StartAsync(string stream, params object[] events)
    {
        await using var session = Store.LightweightSession();
        session.Events.StartStream(stream, events);
        await session.SaveChangesAsync();
    }

    protected async Task<IReadOnlyList<IEvent>> FetchAsync(string stream)
    {
        await using var session = Store.QuerySession();
        return await session.Events.FetchStreamAsync(stream);
    }

    protected async Task ExecuteAsync(string sql)
    {
        await using var source = NpgsqlDataSource.Create(ConnectionString);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    protected async Task<List<T>> QueryAsync<T>(string sql)
    {
        await using var source = NpgsqlDataSource.Create(ConnectionString);
        await using var command = source.CreateCommand(sql);
        await using var reader = await command.ExecuteReaderAsync();
        List<T> values = [];
        while (await reader.ReadAsync())
        {
            values.Add(reader.GetFieldValue<T>(0));
        }

        return values;
    }

    protected Task<List<string>> ColumnsAsync(string table) => QueryAsync<string>(
        $"""
        select concat_ws(' ', column_name, udt_name, character_maximum_length,
            case is_nullable when 'NO' then 'required' end)
        from information_schema.columns where table_schema = '{Schema}' and table_name = '{table}'
        order by column_name
        """);
}
