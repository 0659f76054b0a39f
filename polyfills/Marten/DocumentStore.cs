using System.Data;
using JasperFx;
using Marten.Internal;
using Npgsql;

namespace Marten;

public class DocumentStore : IDocumentStore
{
    private readonly bool _ownsDataSource;

    public DocumentStore(StoreOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Options = options;
        (DataSource, _ownsDataSource) = options.OpenDataSource();
        Schema = new DatabaseSchema(options, DataSource);
        EventSql = new EventSql(options);
        Tombstones = new Tombstones(DataSource, EventSql);
    }

    public StoreOptions Options { get; }

    public IMartenStorage Storage => Schema;

    internal NpgsqlDataSource DataSource { get; }

    internal DatabaseSchema Schema { get; }

    internal EventSql EventSql { get; }

    internal Tombstones Tombstones { get; }

    public static DocumentStore For(Action<StoreOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        var options = new StoreOptions();
        configure(options);
        return new DocumentStore(options);
    }

    public IDocumentSession LightweightSession(IsolationLevel isolationLevel = IsolationLevel.ReadCommitted)
        => isolationLevel == IsolationLevel.ReadCommitted
            ? new Session(this)
            : throw new NotSupportedException("Sessions here are read committed");

    public IQuerySession QuerySession() => new Session(this);

    public virtual void Dispose()
    {
        Tombstones.DrainAsync().GetAwaiter().GetResult();
        if (_ownsDataSource)
        {
            DataSource.Dispose();
        }

        GC.SuppressFinalize(this);
    }

    public async ValueTask DisposeAsync()
    {
        await Tombstones.DrainAsync().ConfigureAwait(false);
        if (_ownsDataSource)
        {
            await DataSource.DisposeAsync().ConfigureAwait(false);
        }

        GC.SuppressFinalize(this);
    }
}

public interface IDocumentStore : IDisposable, IAsyncDisposable
{
    public IMartenStorage Storage { get; }

    public IDocumentSession LightweightSession(IsolationLevel isolationLevel = IsolationLevel.ReadCommitted);

    public IQuerySession QuerySession();
}

public interface IMartenStorage
{
    /// <remarks>What to create is not looked at, as in the genuine library: all that is missing is made.</remarks>
    public Task ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate? @override = null);
}
