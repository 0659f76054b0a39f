using System.Data;
using Marten.Internal;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Marten;

public class DocumentStore : IDocumentStore
{
    private readonly bool _ownsDataSource;

    public DocumentStore(StoreOptions options)
        : this(options, null)
    {
    }

    internal DocumentStore(StoreOptions options, ILoggerFactory? loggers)
    {
        ArgumentNullException.ThrowIfNull(options);
        Options = options;
        (DataSource, _ownsDataSource) = options.OpenDataSource(loggers);
        Schema = new DatabaseSchema(options, DataSource);
        EventSql = new EventSql(options.EventGraph);
        Advanced = new AdvancedOperations(new DocumentCleaner(this), options.Serializer());
    }

    public StoreOptions Options { get; }

    IReadOnlyStoreOptions IDocumentStore.Options => Options;

    public IMartenStorage Storage => Schema;

    public AdvancedOperations Advanced { get; }

    internal NpgsqlDataSource DataSource { get; }

    internal DatabaseSchema Schema { get; }

    internal EventSql EventSql { get; }

    public static DocumentStore For(string connectionString) => For(options => options.Connection(connectionString));

    public static DocumentStore For(Action<StoreOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        var options = new StoreOptions();
        configure(options);
        return new DocumentStore(options);
    }

    public IDocumentSession LightweightSession(IsolationLevel isolationLevel = IsolationLevel.ReadCommitted)
        => new LightweightSession(this, isolationLevel);

    public IQuerySession QuerySession() => new QuerySession(this);

    public void Dispose()
    {
        if (_ownsDataSource)
        {
            DataSource.Dispose();
        }

        GC.SuppressFinalize(this);
    }

    public async ValueTask DisposeAsync()
    {
        if (_ownsDataSource)
        {
            await DataSource.DisposeAsync().ConfigureAwait(false);
        }

        GC.SuppressFinalize(this);
    }
}
