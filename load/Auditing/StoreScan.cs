using System.Data;
using Billing.Backends.EventStore;
using Google.Protobuf;
using Npgsql;
using WireEvent = Billing.Wire.V1.Event;

namespace Billing.Auditing;

/// <summary>Reads the whole event store from one database snapshot, events and receipts concurrently, so that a store that is
/// being written to can also be audited.</summary>
internal sealed class StoreScan : IAsyncDisposable
{
    // Excludes Marten's own stream, which it uses to fill the sequence numbers of a failed save.
    private const string AccountStream = "id <> 'mt_tombstone'";
    private const string AccountsEvent = "stream_id <> 'mt_tombstone'";

    private readonly string _schema;
    private readonly IProgress<AuditProgress>? _progress;
    private readonly NpgsqlConnection _events;
    private readonly NpgsqlConnection _receipts;

    private StoreScan(string connectionString, string schema, IProgress<AuditProgress>? progress)
    {
        _schema = schema;
        _progress = progress;
        // Not pooled: a pool may contain connections to a server that has been killed.
        var unpooled = new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false }.ConnectionString;
        _events = new NpgsqlConnection(unpooled);
        _receipts = new NpgsqlConnection(unpooled);
    }

    /// <summary>Number of events according to the versions of the streams.</summary>
    public long Expected { get; private set; }

    /// <summary>Connects and takes the database snapshot.</summary>
    /// <exception cref="AuditException">The database has no event store.</exception>
    /// <exception cref="NpgsqlException">The database cannot be used.</exception>
    public static async Task<StoreScan> OpenAsync(
        string connectionString, string schema, IProgress<AuditProgress>? progress, CancellationToken cancellationToken)
    {
        var scan = new StoreScan(connectionString, schema, progress);
        try
        {
            await scan.OpenAsync(cancellationToken);
            return scan;
        }
        catch (PostgresException e) when (e.SqlState is PostgresErrorCodes.UndefinedTable or PostgresErrorCodes.InvalidSchemaName)
        {
            await scan.DisposeAsync();
            throw new AuditException($"The database '{scan._events.Database}' contains no event store in the schema '{schema}': {e.MessageText}.", e);
        }
        catch
        {
            await scan.DisposeAsync();
            throw;
        }
    }

    /// <summary>Reads the versions of the streams and the account snapshots.</summary>
    public async Task ReadStreamsAsync(AccountLedger accounts, CancellationToken cancellationToken)
    {
        await foreach (var row in RowsAsync(_events, $"select id, version from {_schema}.mt_streams where {AccountStream}", cancellationToken))
        {
            accounts.AddStream(row.GetString(0), row.GetInt64(1));
        }
        var snapshots = $"select stream_id, version, balance, credit_limit, currency from {EventStoreSchema.Snapshots(_schema)}";
        await foreach (var row in RowsAsync(_events, snapshots, cancellationToken))
        {
            accounts.AddSnapshot(row.GetString(0), new StoredSnapshot(
                row.GetInt64(1), row.GetDecimal(2), row.GetDecimal(3), row.IsDBNull(4) ? null : row.GetString(4)));
        }
    }

    /// <summary>Reads the events.</summary>
    /// <returns>The number of events.</returns>
    public async Task<long> ReadEventsAsync(AccountLedger accounts, Findings unbalanced, CancellationToken cancellationToken)
    {
        // A stream's events have sequence numbers in the order of their versions, and there is an index on them: this order needs
        // no sort, and avoids keeping events that are read before earlier ones of their stream.
        var counter = new AuditCounter(_progress, "Events", Expected);
        var sql = $"select stream_id, version, type, data from {_schema}.mt_events where {AccountsEvent} order by seq_id";
        await foreach (var row in RowsAsync(_events, sql, cancellationToken))
        {
            var (stream, version) = (row.GetString(0), row.GetInt64(1));
            accounts.AddEvent(stream, version, Read(stream, version, row, unbalanced));
            counter.Add();
        }
        counter.Complete();
        return counter.Done;
    }

    /// <summary>Reads the receipts, without those that close an id: they answer no event.</summary>
    /// <returns>The number of receipts.</returns>
    public async Task<long> ReadReceiptsAsync(
        TransactionLedger transactions, Findings unbalanced, CancellationToken cancellationToken)
    {
        var counter = new AuditCounter(_progress, "Receipts", Expected);
        var streams = new Dictionary<string, string>(StringComparer.Ordinal);
        var currencies = new Dictionary<string, string>(StringComparer.Ordinal);
        var sql = $"select transaction_id, event from {EventStoreSchema.Receipts(_schema)} where event <> ''";
        await foreach (var row in RowsAsync(_receipts, sql, cancellationToken))
        {
            counter.Add();
            var id = row.GetGuid(0);
            if (Read(id, row.GetFieldValue<byte[]>(1), unbalanced) is { } recorded)
            {
                var transaction = Transaction.Of(recorded);
                transactions.AddReceipt(id, transaction with
                {
                    StreamId = Once(streams, transaction.StreamId),
                    Currency = Once(currencies, transaction.Currency),
                });
            }
        }
        counter.Complete();
        return counter.Done;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _receipts.DisposeAsync();
        await _events.DisposeAsync();
    }

    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        await _events.OpenAsync(cancellationToken);
        await _receipts.OpenAsync(cancellationToken);
        // Both transactions end with their connections.
        await _events.BeginTransactionAsync(IsolationLevel.RepeatableRead, cancellationToken);
        await _receipts.BeginTransactionAsync(IsolationLevel.RepeatableRead, cancellationToken);
        await using var export = new NpgsqlCommand("select pg_export_snapshot()", _events);
        var snapshot = (string)(await export.ExecuteScalarAsync(cancellationToken))!;
        await using var import = new NpgsqlCommand($"set transaction snapshot '{snapshot}'", _receipts);
        await import.ExecuteNonQueryAsync(cancellationToken);
        await using var size = new NpgsqlCommand(
            $"set local enable_sort = off; select coalesce(sum(version), 0)::bigint from {_schema}.mt_streams where {AccountStream}", _events);
        Expected = (long)(await size.ExecuteScalarAsync(cancellationToken))!;
    }

    private static async IAsyncEnumerable<NpgsqlDataReader> RowsAsync(
        NpgsqlConnection connection, string sql,
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(sql, connection) { CommandTimeout = 0 };
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            yield return rows;
        }
    }

    private static StoredFact? Read(string stream, long version, NpgsqlDataReader row, Findings unbalanced)
    {
        try
        {
            return StoredFact.Read(row.GetString(2), row.GetFieldValue<byte[]>(3));
        }
        catch (FormatException e)
        {
            unbalanced.Add($"{stream} version {version} cannot be read: {e.Message}");
            return null;
        }
    }

    private static WireEvent? Read(Guid id, byte[] receipt, Findings unbalanced)
    {
        try
        {
            var recorded = WireEvent.Parser.ParseFrom(receipt);
            if (Guid.TryParse(recorded.TransactionId, out var recordedId) && recordedId == id)
            {
                return recorded;
            }
            unbalanced.Add($"{id}: the receipt holds the event of transaction '{recorded.TransactionId}'");
        }
        catch (InvalidProtocolBufferException e)
        {
            unbalanced.Add($"{id}: the receipt cannot be read: {e.Message}");
        }
        return null;
    }

    private static string Once(Dictionary<string, string> texts, string text)
    {
        if (!texts.TryGetValue(text, out var first))
        {
            texts.Add(text, first = text);
        }
        return first;
    }
}
