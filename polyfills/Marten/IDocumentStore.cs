using System.Data;
using JasperFx;
using Marten.Events;
using Marten.Schema;

namespace Marten;

public interface IDocumentStore : IDisposable, IAsyncDisposable
{
    public IReadOnlyStoreOptions Options { get; }

    public IMartenStorage Storage { get; }

    public AdvancedOperations Advanced { get; }

    public IDocumentSession LightweightSession(IsolationLevel isolationLevel = IsolationLevel.ReadCommitted);

    public IQuerySession QuerySession();
}

public interface IReadOnlyStoreOptions
{
    public string DatabaseSchemaName { get; }

    public AutoCreate AutoCreateSchemaObjects { get; }

    public IReadOnlyEventStoreOptions Events { get; }

    public ISerializer Serializer();
}

public interface IMartenStorage
{
    public Task ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate? @override = null);
}

public class AdvancedOperations
{
    internal AdvancedOperations(IDocumentCleaner clean, ISerializer serializer)
    {
        Clean = clean;
        Serializer = serializer;
    }

    public IDocumentCleaner Clean { get; }

    public ISerializer Serializer { get; }
}
