using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using JasperFx;
using Marten.Events;
using Marten.Internal;
using Microsoft.Extensions.Logging;
using Npgsql;
using Weasel.Core;

namespace Marten;

public class StoreOptions : IReadOnlyStoreOptions
{
    private ISerializer? _serializer;
    private string _databaseSchemaName = "public";
    private string? _connectionString;
    private NpgsqlDataSource? _dataSource;

    public StoreOptions()
    {
        EventGraph = new EventGraph(this);
    }

    public string DatabaseSchemaName
    {
        get => _databaseSchemaName;
        [SuppressMessage("Globalization", "CA1308", Justification = "PostgreSQL folds names to lower case.")]
        set => _databaseSchemaName = value?.ToLowerInvariant() ?? throw new ArgumentNullException(nameof(value));
    }

    public AutoCreate AutoCreateSchemaObjects { get; set; } = AutoCreate.CreateOrUpdate;

    /// <summary>Without effect here: a session is saved in one batch of a fixed number of statements.</summary>
    public int UpdateBatchSize { get; set; } = 500;

    /// <summary>In seconds.</summary>
    public int CommandTimeout { get; set; } = 30;

    public bool DisableNpgsqlLogging { get; set; }

    /// <summary>The key of the advisory lock under which the tables are made.</summary>
    public int ApplyChangesLockId { get; set; } = 4004;

    public IEventStoreOptions Events => EventGraph;

    IReadOnlyEventStoreOptions IReadOnlyStoreOptions.Events => EventGraph;

    internal EventGraph EventGraph { get; }

    internal DocumentMappings Documents { get; } = new();

    internal bool HasConnection => _dataSource is not null || _connectionString is not null;

    public void Connection(string connectionString)
    {
        ArgumentNullException.ThrowIfNull(connectionString);
        _connectionString = connectionString;
        _dataSource = null;
    }

    public void Connection(NpgsqlDataSource dataSource)
    {
        ArgumentNullException.ThrowIfNull(dataSource);
        _dataSource = dataSource;
        _connectionString = null;
    }

    public void RegisterDocumentType<T>() => RegisterDocumentType(typeof(T));

    public void RegisterDocumentType(Type documentType) => Documents.For(documentType);

    public void UseSystemTextJsonForSerialization(
        EnumStorage enumStorage = EnumStorage.AsInteger,
        Casing casing = Casing.Default,
        Action<JsonSerializerOptions>? configure = null)
        => _serializer = new JsonDocuments(null, enumStorage, casing, configure);

    public void UseSystemTextJsonForSerialization(
        JsonSerializerOptions options,
        EnumStorage enumStorage = EnumStorage.AsInteger,
        Casing casing = Casing.Default,
        Action<JsonSerializerOptions>? configure = null)
        => _serializer = new JsonDocuments(options, enumStorage, casing, configure);

    public ISerializer Serializer() => Json;

    internal JsonDocuments Json
    {
        get
        {
            _serializer ??= new JsonDocuments(null, EnumStorage.AsInteger, Casing.Default, null);
            return (JsonDocuments)_serializer;
        }
    }

    internal (NpgsqlDataSource DataSource, bool Owned) OpenDataSource(ILoggerFactory? loggers)
    {
        if (_dataSource is not null)
        {
            return (_dataSource, false);
        }

        if (_connectionString is null)
        {
            throw new InvalidOperationException("Name a database with StoreOptions.Connection(...)");
        }

        var builder = new NpgsqlDataSourceBuilder(_connectionString);
        if (loggers is not null && !DisableNpgsqlLogging)
        {
            builder.UseLoggerFactory(loggers);
        }

        return (builder.Build(), true);
    }
}
