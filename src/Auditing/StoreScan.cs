using System.Data;
using System.Globalization;
using System.Runtime.CompilerServices;
using Billing.Auditing.Exports;
using Billing.Backends.EventStore;
using Npgsql;

namespace Billing.Auditing;

/// <summary>Reads one database of the event store from one snapshot, so that a store that is being written to can also
/// be audited; of shards that it does not hold, nothing.</summary>
internal sealed class StoreScan : IAsyncDisposable
{
    // Excludes Marten's own stream, which it uses to fill the sequence numbers of a failed save.
    private const string AccountStream = "id <> 'mt_tombstone'";
    private const string AccountsEvent = "stream_id <> 'mt_tombstone'";

    private readonly string _schema;
    private readonly IProgress<AuditProgress>? _progress;
    private readonly NpgsqlConnection _events;

    private StoreScan(string connectionString, string schema, IProgress<AuditProgress>? progress)
    {
        _schema = schema;
        _progress = progress;
        // Not pooled: a pool may contain connections to a server that has been killed.
        _events = new NpgsqlConnection(
            new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false }.ConnectionString);
    }

    /// <summary>Number of events according to the versions of the streams.</summary>
    public long Expected { get; private set; }

    /// <summary>The shards that the database holds.</summary>
    public IReadOnlySet<int> Held { get; private set; } = new HashSet<int>();

    /// <summary>Number of events that a repeated command would find.</summary>
    public long Receipts { get; private set; }

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
        catch (PostgresException e)
            when (e.SqlState is PostgresErrorCodes.UndefinedTable or PostgresErrorCodes.InvalidSchemaName)
        {
            await scan.DisposeAsync();
            throw new AuditException(
                $"The database '{scan._events.Database}' contains no event store in the schema '{schema}': "
                    + $"{e.MessageText}.", e);
        }
        catch
        {
            await scan.DisposeAsync();
            throw;
        }
    }

    /// <summary>Reads the versions of the streams, and what they list as on hold.</summary>
    public async Task ReadStreamsAsync(AccountLedger accounts, CancellationToken cancellationToken)
    {
        await foreach (var row in RowsAsync(
            _events, $"select id, version from {_schema}.mt_streams where {AccountStream}", cancellationToken))
        {
            if (IsHeld(row.GetString(0)))
            {
                accounts.AddStream(row.GetString(0), row.GetInt64(1));
            }
        }
        await ReadHoldsAsync(accounts, cancellationToken);
    }

    private async Task ReadHoldsAsync(AccountLedger accounts, CancellationToken cancellationToken)
    {
        await foreach (var row in RowsAsync(
            _events, $"select stream_id, payment_id from {EventStoreSchema.OpenHolds(_schema)}", cancellationToken))
        {
            if (IsHeld(row.GetString(0)))
            {
                accounts.AddHold(row.GetString(0), row.GetGuid(1));
            }
        }
    }

    /// <summary>Reads the events.</summary>
    /// <returns>The number of events.</returns>
    public async Task<long> ReadEventsAsync(
        AccountLedger accounts, ExportedDays? days, Findings unbalanced, CancellationToken cancellationToken)
    {
        // A stream's events have sequence numbers in the order of their versions, and there is an index on them:
        // this order needs no sort, and avoids keeping events that are read before earlier ones of their stream.
        var counter = new AuditCounter(_progress, "Events", Expected);
        var sql =
            $"select stream_id, version, type, data, id, timestamp from {_schema}.mt_events where {AccountsEvent} "
            + "order by seq_id";
        await foreach (var row in RowsAsync(_events, sql, cancellationToken))
        {
            var (stream, version) = (row.GetString(0), row.GetInt64(1));
            if (!IsHeld(stream))
            {
                continue;
            }
            var fact = Read(stream, version, row, unbalanced);
            accounts.AddEvent(stream, version, fact);
            counter.Add();
            if (fact is null)
            {
                continue;
            }
            days?.Add(
                row.GetDateTime(5), EventTotals.KindOf(row.GetString(2)),
                fact.Currency.Length == 0 ? null : fact.Currency,
                fact.Kind is TransactionKind.Voided or TransactionKind.Expired ? fact.Released : fact.Amount,
                fact.AccountCurrency, fact.OnHold);
            if (row.GetGuid(4) == new CommandId(fact.TransactionId, stream).EventId)
            {
                Receipts++;
            }
            else
            {
                unbalanced.Add(
                    $"{fact.TransactionId}: no receipt: {stream} version {version} has another id than "
                    + "that of its command");
            }
        }
        counter.Complete();
        return counter.Done;
    }

    /// <summary>Reads the events of one account after the other, each in the order of their versions;
    /// by the indexes, so that nothing is sorted or kept.</summary>
    public async IAsyncEnumerable<StoredRow> ReadInOrderAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var counter = new AuditCounter(_progress, "Events", Expected);
        var sql = $"""
            select s.id, s.version, e.version, e.type, e.data
            from {_schema}.mt_streams s left join {_schema}.mt_events e on e.stream_id = s.id
            where s.{AccountStream} order by s.id, e.version
            """;
        await foreach (var row in RowsAsync(_events, sql, cancellationToken))
        {
            if (IsHeld(row.GetString(0)))
            {
                yield return row.IsDBNull(2)
                    ? new StoredRow(row.GetString(0), row.GetInt64(1), 0, null, default)
                    : new StoredRow(
                        row.GetString(0), row.GetInt64(1), row.GetInt64(2), row.GetString(3),
                        row.GetFieldValue<byte[]>(4));
                counter.Add();
            }
        }
        counter.Complete();
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _events.DisposeAsync();

    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        await _events.OpenAsync(cancellationToken);
        // The transaction ends with its connection.
        await _events.BeginTransactionAsync(IsolationLevel.RepeatableRead, cancellationToken);
        await using var size = new NpgsqlCommand(
            $"set local enable_sort = off; select coalesce(sum(version), 0)::bigint from {_schema}.mt_streams where "
                + $"{AccountStream}", _events);
        Expected = (long)(await size.ExecuteScalarAsync(cancellationToken))!;
        await ReadShardsAsync(cancellationToken);
    }

    private async Task ReadShardsAsync(CancellationToken cancellationToken)
    {
        var held = new HashSet<int>();
        await foreach (var row in RowsAsync(
            _events, $"select number from {EventStoreSchema.ShardsHere(_schema)} where is_held and moving_to is null",
            cancellationToken))
        {
            held.Add(row.GetInt32(0));
        }
        Held = held;
    }

    private bool IsHeld(string streamId) => Held.Contains(Shard.Of(streamId));

    private static async IAsyncEnumerable<NpgsqlDataReader> RowsAsync(
        NpgsqlConnection connection, string sql,
        [EnumeratorCancellation] CancellationToken cancellationToken)
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
}

/// <summary>An event as it is stored.</summary>
/// <param name="Stream">Its stream.</param>
/// <param name="StreamVersion">The version of the stream, by the stream's own row.</param>
/// <param name="Version">Its version; 0 if the stream has no events.</param>
/// <param name="Type">Its event type; null if the stream has no events.</param>
/// <param name="Json">Its content.</param>
internal readonly record struct StoredRow(
    string Stream, long StreamVersion, long Version, string? Type, ReadOnlyMemory<byte> Json);

/// <summary>Reads all databases of the event store.</summary>
internal sealed class StoreScans : IAsyncDisposable
{
    private readonly List<StoreScan> _scans = [];

    private StoreScans()
    {
    }

    /// <summary>Number of events according to the versions of the streams.</summary>
    public long Expected => _scans.Sum(scan => scan.Expected);

    /// <summary>Number of events that a repeated command would find.</summary>
    public long Receipts => _scans.Sum(scan => scan.Receipts);

    /// <summary>Connects and takes the snapshots.</summary>
    /// <exception cref="AuditException">A database has no event store, or a shard is not in
    /// exactly one of them.</exception>
    public static async Task<StoreScans> OpenAsync(
        IEnumerable<string> databases, string schema,
        IProgress<AuditProgress>? progress, CancellationToken cancellationToken)
    {
        var all = new StoreScans();
        try
        {
            foreach (var database in databases)
            {
                all._scans.Add(await StoreScan.OpenAsync(database, schema, progress, cancellationToken));
            }
            all.CheckShards();
            return all;
        }
        catch
        {
            await all.DisposeAsync();
            throw;
        }
    }

    /// <summary>Reads the versions of the streams, and what they list as on hold.</summary>
    public async Task ReadStreamsAsync(AccountLedger accounts, CancellationToken cancellationToken)
    {
        foreach (var scan in _scans)
        {
            await scan.ReadStreamsAsync(accounts, cancellationToken);
        }
    }

    /// <summary>Reads the events.</summary>
    /// <returns>The number of events.</returns>
    public async Task<long> ReadEventsAsync(
        AccountLedger accounts, ExportedDays? days, Findings unbalanced, CancellationToken cancellationToken)
    {
        var read = 0L;
        foreach (var scan in _scans)
        {
            read += await scan.ReadEventsAsync(accounts, days, unbalanced, cancellationToken);
        }
        return read;
    }

    /// <summary>Reads the events of one account after the other.</summary>
    public async IAsyncEnumerable<StoredRow> ReadInOrderAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var scan in _scans)
        {
            await foreach (var row in scan.ReadInOrderAsync(cancellationToken))
            {
                yield return row;
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var scan in _scans)
        {
            await scan.DisposeAsync();
        }
    }

    private void CheckShards()
    {
        var wrong = Enumerable.Range(0, Shard.Count)
            .Where(shard => _scans.Count(scan => scan.Held.Contains(shard)) != 1).ToList();
        if (wrong.Count > 0)
        {
            throw new AuditException(
                "Of these databases not exactly one holds each of the shards "
                + $"{string.Join(", ", wrong.Select(shard => shard.ToString(CultureInfo.InvariantCulture)))}: "
                + "name all databases, and audit when no shard is being moved.");
        }
    }
}
