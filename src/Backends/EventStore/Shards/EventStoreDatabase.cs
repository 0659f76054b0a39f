using JasperFx;
using Marten;
using Microsoft.Extensions.Options;

namespace Billing.Backends.EventStore.Shards;

/// <summary>One database of the event store, with all that reads and writes it.</summary>
internal sealed class EventStoreDatabase : IAsyncDisposable
{
    public EventStoreDatabase(string name, EventStoreOptions options, TimeProvider time)
    {
        var settings = Options.Create(options);
        Name = name;
        Servers = new StoreServers(settings);
        Documents = new DocumentStore(Configure(Servers, options.Schema));
        Schema = new EventStoreSchema(Documents, Servers, settings, time);
        Store = new PrimaryAccounts(name, Servers, settings);
        Settings = options;
    }

    /// <summary>Its name in the settings; of the only one, <see cref="EventStoreOptions.OnlyDatabase"/>.</summary>
    public string Name { get; }

    /// <summary>The settings, with its connection string.</summary>
    public EventStoreOptions Settings { get; }

    public StoreServers Servers { get; }

    public DocumentStore Documents { get; }

    public EventStoreSchema Schema { get; }

    public PrimaryAccounts Store { get; }

    public async ValueTask DisposeAsync()
    {
        await Documents.DisposeAsync();
        await Servers.DisposeAsync();
    }

    private static StoreOptions Configure(StoreServers servers, string schema)
    {
        var options = new StoreOptions();
        options.Connection(servers.ForSchema);
        EventTypes.Configure(options, schema);
        // The tables are created at startup only: Marten must not check them again before the first append.
        options.AutoCreateSchemaObjects = AutoCreate.None;
        return options;
    }
}
