using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using JasperFx;
using Marten.Events;
using Marten.Internal;
using Npgsql;
using Weasel.Core;

namespace Marten;

public class StoreOptions
{
    private JsonDocuments? _serializer;
    private string _databaseSchemaName = "public";
    private string? _connectionString;
    private NpgsqlDataSource? _dataSource;

    public string DatabaseSchemaName
    {
        get => _databaseSchemaName;
        [SuppressMessage("Globalization", "CA1308", Justification = "PostgreSQL folds names to lower case.")]
        set => _databaseSchemaName = value?.ToLowerInvariant() ?? throw new ArgumentNullException(nameof(value));
    }

    /// <summary>Without effect here: nothing of this library's is logged.</summary>
    public bool DisableNpgsqlLogging { get; set; }

    /// <summary>What sessions make of the tables that are missing: nothing with <see cref="AutoCreate.None"/>, else all.</summary>
    public AutoCreate AutoCreateSchemaObjects { get; set; } = AutoCreate.CreateOrUpdate;

    public IEventStoreOptions Events => EventGraph;

    internal EventGraph EventGraph { get; } = new();

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

    public void UseSystemTextJsonForSerialization(
        EnumStorage enumStorage = EnumStorage.AsInteger,
        Casing casing = Casing.Default,
        Action<JsonSerializerOptions>? configure = null)
        => _serializer = new JsonDocuments(enumStorage, casing, configure);

    public ISerializer Serializer() => Json;

    internal JsonDocuments Json => _serializer ??= new JsonDocuments(EnumStorage.AsInteger, Casing.Default, null);

    internal (NpgsqlDataSource DataSource, bool Owned) OpenDataSource()
    {
        if (_dataSource is not null)
        {
            return (_dataSource, false);
        }

        return _connectionString is null
            ? throw new InvalidOperationException("Name a database with StoreOptions.Connection(...)")
            : (NpgsqlDataSource.Create(_connectionString), true);
    }
}
