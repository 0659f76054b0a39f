using System.Runtime.CompilerServices;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Operator.Exports;

/// <summary>Reads the events of days from one database, page by page: no statement holds up the clean-up of the
/// database for long.</summary>
/// <param name="database">The database.</param>
/// <param name="session">A session of it, or of its standby.</param>
internal sealed class DatabaseDays(EventStoreDatabase database, NpgsqlConnection session)
{
    private const int PageMax = 5000;

    private readonly string _events = database.Settings.Schema + ".mt_events";

    public EventStoreDatabase Database => database;

    public NpgsqlConnection Session => session;

    /// <summary>Reads the events of a day, of the accounts in some shards.</summary>
    public async IAsyncEnumerable<ExportedEvent> ReadAsync(
        DateOnly day, HashSet<int> shards, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var last = new Row(DayEnd.StartOf(day), "", 0, "", []);
        for (var page = await PageAsync(
            last, day, cancellationToken); page.Count > 0; page = await PageAsync(last, day, cancellationToken))
        {
            foreach (var row in page.Where(
                row => shards.Count == Shard.Count || shards.Contains(Shard.Of(row.StreamId))))
            {
                yield return ExportedEvent.Of(row.StoredAt, row.StreamId, row.Version, Read(row));
            }
            last = page[^1];
        }
    }

    // The first condition is for the index, the last one for the order.
    private Task<List<Row>> PageAsync(Row after, DateOnly day, CancellationToken cancellationToken) => RowsAsync(
        $"""
        select timestamp, stream_id, version, type, data from {_events}
        where timestamp >= $1 and timestamp < $2 and stream_id <> '{EventTypes.TombstoneStream}'
            and (timestamp, stream_id collate "C", version) > ($1, $3, $4)
        order by timestamp, stream_id collate "C", version limit {PageMax}
        """,
        cancellationToken,
        new NpgsqlParameter<DateTime> { TypedValue = after.StoredAt, NpgsqlDbType = NpgsqlDbType.TimestampTz },
        new NpgsqlParameter<DateTime>
        {
            TypedValue = DayEnd.StartOf(day.AddDays(1)),
            NpgsqlDbType = NpgsqlDbType.TimestampTz,
        },
        new NpgsqlParameter<string> { TypedValue = after.StreamId },
        new NpgsqlParameter<long> { TypedValue = after.Version });

    private async Task<List<Row>> RowsAsync(
        string sql, CancellationToken cancellationToken, params NpgsqlParameter[] parameters)
    {
        await using var select = new NpgsqlCommand(sql, session);
        select.Parameters.AddRange(parameters);
        await using var rows = await select.ExecuteReaderAsync(cancellationToken);
        var found = new List<Row>();
        while (await rows.ReadAsync(cancellationToken))
        {
            found.Add(new Row(
                rows.GetDateTime(0), rows.GetString(1), rows.GetInt64(2),
                rows.GetString(3), rows.GetFieldValue<byte[]>(4)));
        }
        return found;
    }

    private static AccountEvent Read(Row row)
    {
        try
        {
            return EventTypes.Read(row.Type, row.Data);
        }
        catch (Exception e) when (e is UnknownEventTypeException or System.Text.Json.JsonException)
        {
            throw new FormatException($"{row.StreamId} version {row.Version} cannot be read: {e.Message}", e);
        }
    }

    private sealed record Row(DateTime StoredAt, string StreamId, long Version, string Type, byte[] Data);
}
