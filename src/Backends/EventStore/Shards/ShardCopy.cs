using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Copies the rows of a shard from one database to another: events, streams, and the tombstones of
/// closed commands. Rows travel as JSON with all their columns. Each is read back and compared; copying one
/// again changes nothing.</summary>
/// <param name="from">A session of the database that holds the shard, of a role that may read and
/// write all tables.</param>
/// <param name="to">A session of the other database, likewise.</param>
/// <param name="fromSchema">The schema in the former.</param>
/// <param name="toSchema">The schema in the latter.</param>
/// <param name="shard">The shard.</param>
internal sealed class ShardCopy(
    NpgsqlConnection from, NpgsqlConnection to, string fromSchema, string toSchema, int shard)
{
    private const int BatchMax = 2000;
    private const string Tombstones = EventTypes.TombstoneStream;
    private const string TombstoneOf = $"data->>'{AccountStore.TombstoneStreamId}'";
    private const string SameEvent = "t.id = (r->>'id')::uuid";

    // Sequence numbers belong to a database, and so do the versions of tombstones, which follow from them.
    private const string OwnColumns =
        $"case when r->>'stream_id' = '{Tombstones}' then '{{seq_id,version}}'::text[] else '{{seq_id}}' end";

    private readonly string _streams = $"""
        select * from {fromSchema}.mt_streams where {fromSchema}.{Shard.Function}(id) = {shard} and id <> '{Tombstones}'
            and id > $1 order by id limit {BatchMax}
        """;

    // By the index of streams and versions: of all events of the database, only those of these streams are read.
    private readonly string _eventsOfStreams = $"""
        select e.* from jsonb_array_elements($1) r
        cross join lateral (select * from {fromSchema}.mt_events where stream_id = r->>'id' and seq_id <= $2
            order by version) e
        """;

    private readonly string _tombstones = $"""
        select * from {fromSchema}.mt_events
        where stream_id = '{Tombstones}' and {fromSchema}.{Shard.Function}({TombstoneOf}) = {shard} and seq_id <= $1
            order by version
        """;

    private readonly string _events = $"""
        select * from {fromSchema}.mt_events where {fromSchema}.{Shard.Function}(
            case when stream_id = '{Tombstones}' then {TombstoneOf} else stream_id end) = {shard}
        """;

    /// <summary>Copies all streams of the shard as they are now, and the events up to a sequence number.</summary>
    /// <returns>The number of events.</returns>
    public async Task<int> CopyAccountsAsync(long upTo, CancellationToken cancellationToken)
    {
        var copied = 0;
        await foreach (var streams in StreamsAsync(cancellationToken))
        {
            await WriteStreamsAsync(streams, cancellationToken);
            copied += await WriteAllAsync(EventsOfAsync(streams, upTo, cancellationToken), cancellationToken);
        }
        return copied + await WriteAllAsync(TombstonesAsync(upTo, cancellationToken), cancellationToken);
    }

    /// <summary>Copies the events with sequence numbers above one and up to another, with their streams.</summary>
    /// <returns>The number of events.</returns>
    public async Task<int> CopyEventsAsync(long after, long upTo, CancellationToken cancellationToken)
    {
        var copied = 0;
        while (true)
        {
            var (rows, last, count) = await ReadAsync(
                $"{_events} and seq_id > $1 and seq_id <= $2 order by seq_id limit {BatchMax}", "max(seq_id)::text",
                cancellationToken, new NpgsqlParameter<long> { TypedValue = after },
                new NpgsqlParameter<long> { TypedValue = upTo });
            if (last is null)
            {
                return copied;
            }
            var (streams, _, _) = await ReadAsync(
                $"select * from {fromSchema}.mt_streams where id <> '{Tombstones}' and id in (select r->>'stream_id' "
                    + "from jsonb_array_elements($1) r)",
                "null", cancellationToken, Json(rows));
            await WriteStreamsAsync(streams, cancellationToken);
            await WriteEventsAsync(rows, cancellationToken);
            (copied, after) = (copied + count, long.Parse(last, CultureInfo.InvariantCulture));
        }
    }

    /// <summary>Marks accounts that were archived, or are no longer, since they were copied:
    /// that gives their events no new numbers.</summary>
    public async Task CopyArchivedAsync(CancellationToken cancellationToken)
    {
        await foreach (var streams in StreamsAsync(cancellationToken))
        {
            await MarkArchivedAsync(streams, "t.is_archived <> (r->>'is_archived')::boolean", cancellationToken);
        }
    }

    /// <summary>Copies which of the shard's payments have something on hold. Call this while
    /// the shard is closed.</summary>
    public async Task CopyHoldsAsync(CancellationToken cancellationToken)
    {
        await DeleteHoldsAsync(to, toSchema, cancellationToken);
        for (string? last = ""; last is not null;)
        {
            (var rows, last, _) = await ReadAsync(
                $"select * from {EventStoreSchema.OpenHolds(fromSchema)} where "
                    + $"{fromSchema}.{Shard.Function}(stream_id) = {shard} and stream_id || payment_id > $1 order by "
                    + $"stream_id || payment_id limit {BatchMax}",
                "max(stream_id || payment_id)", cancellationToken, new NpgsqlParameter<string> { TypedValue = last });
            await InsertAsync(EventStoreSchema.OpenHoldsTable, rows, $"""
                insert into {EventStoreSchema.OpenHolds(toSchema)} (stream_id, payment_id, expires_at)
                select stream_id, payment_id, expires_at
                    from jsonb_populate_recordset(null::{EventStoreSchema.OpenHolds(toSchema)}, $1)
                """, cancellationToken);
        }
    }

    /// <summary>Deletes the shard's rows from the database that no longer holds it, after comparing them once more with
    /// those of the one that does.</summary>
    /// <exception cref="StoreCopyException">A row is missing there.</exception>
    public async Task DeleteAsync(CancellationToken cancellationToken)
    {
        await foreach (var streams in StreamsAsync(cancellationToken))
        {
            // Those that were archived just before the shard was closed.
            await MarkArchivedAsync(streams, "(r->>'is_archived')::boolean and not t.is_archived", cancellationToken);
            await DeleteEventsAsync(EventsOfAsync(streams, long.MaxValue, cancellationToken), cancellationToken);
            await DeleteStreamsAsync(streams, cancellationToken);
        }
        await DeleteEventsAsync(TombstonesAsync(long.MaxValue, cancellationToken), cancellationToken);
        await DeleteHoldsAsync(from, fromSchema, cancellationToken);
    }

    /// <summary>Deletes what moves that were given up have copied to the first database, without comparing it.
    /// The second one holds the shard.</summary>
    /// <param name="onlyDifferent">Whether to keep what is so in the database that holds the shard,
    /// for the next move.</param>
    /// <param name="cancellationToken">Ends it; it can be started again.</param>
    public async Task DeleteCopyAsync(bool onlyDifferent, CancellationToken cancellationToken)
    {
        await foreach (var streams in StreamsAsync(cancellationToken))
        {
            await DeleteEventsAsync(
                EventsOfAsync(streams, long.MaxValue, cancellationToken), onlyDifferent, cancellationToken);
            await DeleteStreamsAsync(
                onlyDifferent ? await MissingAsync(
                    streams, $"not exists (select from {toSchema}.mt_streams t where t.id = r->>'id')",
                    cancellationToken) : streams,
                cancellationToken);
        }
        await DeleteEventsAsync(TombstonesAsync(long.MaxValue, cancellationToken), onlyDifferent, cancellationToken);
        await DeleteHoldsAsync(from, fromSchema, cancellationToken);
    }

    private Task MarkArchivedAsync(
        string streams, string condition, CancellationToken cancellationToken) => ExecuteAsync(to, $"""
        with changed as (
            update {toSchema}.mt_streams t set is_archived = (r->>'is_archived')::boolean
            from jsonb_array_elements($1) r where t.id = r->>'id' and {condition}
            returning t.id, t.is_archived)
        update {toSchema}.mt_events e set is_archived = c.is_archived from changed c where e.stream_id = c.id
        """, cancellationToken, Json(streams));

    private Task DeleteHoldsAsync(NpgsqlConnection session, string schema, CancellationToken cancellationToken) =>
        ExecuteAsync(
            session,
            $"delete from {EventStoreSchema.OpenHolds(schema)} where {schema}.{Shard.Function}(stream_id) = {shard}",
            cancellationToken);

    private Task DeleteStreamsAsync(string streams, CancellationToken cancellationToken) => ExecuteAsync(
        from, $"delete from {fromSchema}.mt_streams where id in (select r->>'id' from jsonb_array_elements($1) r)",
        cancellationToken, Json(streams));

    // All streams of the shard, some thousand at a time.
    private async IAsyncEnumerable<string> StreamsAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        for (var last = ""; ;)
        {
            (var streams, last, _) = await ReadAsync(
                _streams, "max(id)", cancellationToken, new NpgsqlParameter<string> { TypedValue = last! });
            if (last is null)
            {
                yield break;
            }
            yield return streams;
        }
    }

    private IAsyncEnumerable<(string Rows, List<long> Sequence)> EventsOfAsync(
        string streams, long upTo, CancellationToken cancellationToken) =>
        ReadEventsAsync(
            _eventsOfStreams, cancellationToken, Json(streams), new NpgsqlParameter<long> { TypedValue = upTo });

    private IAsyncEnumerable<(string Rows, List<long> Sequence)> TombstonesAsync(
        long upTo, CancellationToken cancellationToken) =>
        ReadEventsAsync(_tombstones, cancellationToken, new NpgsqlParameter<long> { TypedValue = upTo });

    // Events with their sequence numbers, some thousand at a time, through a cursor: PostgreSQL ends a session whose
    // client does not read for tcp_user_timeout, and a slow database may take longer to write what was read before.
    // Until the last, the session is in a transaction.
    private async IAsyncEnumerable<(string Rows, List<long> Sequence)> ReadEventsAsync(
        string select, [EnumeratorCancellation] CancellationToken cancellationToken,
        params NpgsqlParameter[] parameters)
    {
        await using var transaction = await from.BeginTransactionAsync(cancellationToken);
        await ExecuteAsync(
            from, $"declare events no scroll cursor for select to_jsonb(t)::text, seq_id from ({select}) t",
            cancellationToken, parameters);
        for (var read = await FetchAsync(
            cancellationToken); read.Sequence.Count > 0; read = await FetchAsync(cancellationToken))
        {
            yield return read;
        }
        await transaction.CommitAsync(cancellationToken);
    }

    private async Task<(string Rows, List<long> Sequence)> FetchAsync(CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand($"fetch {BatchMax} from events", from) { CommandTimeout = 0 };
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        List<string> events = [];
        List<long> sequence = [];
        while (await rows.ReadAsync(cancellationToken))
        {
            events.Add(rows.GetString(0));
            sequence.Add(rows.GetInt64(1));
        }
        return ($"[{string.Join(',', events)}]", sequence);
    }

    // The other database goes on, and accounts are archived there.
    private async Task DeleteEventsAsync(
        IAsyncEnumerable<(string Rows, List<long> Sequence)> events, CancellationToken cancellationToken)
    {
        List<long> compared = [];
        await foreach (var (rows, sequence) in events)
        {
            await CompareAsync("mt_events", rows, SameEvent, cancellationToken, $"{OwnColumns} || '{{is_archived}}'");
            compared.AddRange(sequence);
        }
        await DeleteEventsAsync(compared, cancellationToken);
    }

    private async Task DeleteEventsAsync(
        IAsyncEnumerable<(string Rows, List<long> Sequence)> events,
        bool onlyDifferent, CancellationToken cancellationToken)
    {
        List<long> deleted = [];
        await foreach (var (rows, sequence) in events)
        {
            deleted.AddRange(onlyDifferent
                ? SequenceOf(await MissingAsync(rows, IsMissing("mt_events", SameEvent, OwnColumns), cancellationToken))
                : sequence);
        }
        await DeleteEventsAsync(deleted, cancellationToken);
    }

    private static List<long> SequenceOf(string rows)
    {
        using var events = JsonDocument.Parse(rows);
        return [.. events.RootElement.EnumerateArray().Select(row => row.GetProperty("seq_id").GetInt64())];
    }

    private Task DeleteEventsAsync(List<long> sequence, CancellationToken cancellationToken) => ExecuteAsync(
        from, $"delete from {fromSchema}.mt_events where seq_id = any($1)", cancellationToken,
        new NpgsqlParameter<List<long>> { TypedValue = sequence });

    private async Task<int> WriteAllAsync(
        IAsyncEnumerable<(string Rows, List<long> Sequence)> events, CancellationToken cancellationToken)
    {
        var written = 0;
        await foreach (var (rows, sequence) in events)
        {
            await WriteEventsAsync(rows, cancellationToken);
            written += sequence.Count;
        }
        return written;
    }

    // A new number for each event, and for a tombstone the version that belongs to it.
    private async Task WriteEventsAsync(string rows, CancellationToken cancellationToken)
    {
        await InsertAsync("mt_events", rows, $"""
            insert into {toSchema}.mt_events as known
            select n.* from (select e, nextval('{toSchema}.mt_events_sequence') as number
                from jsonb_populate_recordset(null::{toSchema}.mt_events, $1) e) c
            cross join lateral jsonb_populate_record(
                c.e, jsonb_build_object('seq_id', number) || case
                    when (c.e).stream_id = '{Tombstones}' then jsonb_build_object('version', -number)
                    else jsonb_build_object() end) n
            on conflict on constraint {EventStoreSchema.OneEventForEachCommand} do update
                set is_archived = excluded.is_archived
            where known.is_archived <> excluded.is_archived
            """, cancellationToken);
        await CompareAsync("mt_events", rows, SameEvent, cancellationToken);
    }

    private async Task WriteStreamsAsync(string rows, CancellationToken cancellationToken)
    {
        await InsertAsync("mt_streams", rows, $"""
            insert into {toSchema}.mt_streams select * from jsonb_populate_recordset(null::{toSchema}.mt_streams, $1)
            on conflict (id) do update set
                version = excluded.version, timestamp = excluded.timestamp, created = excluded.created,
                    is_archived = excluded.is_archived
            """, cancellationToken);
        await CompareAsync("mt_streams", rows, "t.id = r->>'id'", cancellationToken);
    }

    private async Task<(string Rows, string? Last, int Count)> ReadAsync(
        string select, string last, CancellationToken cancellationToken, params NpgsqlParameter[] parameters)
    {
        await using var command = new NpgsqlCommand(
            $"select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text, {last}, count(*)::int from ({select}) t", from)
        { CommandTimeout = 0 };
        command.Parameters.AddRange(parameters);
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        await rows.ReadAsync(cancellationToken);
        return (
            rows.GetString(0), await rows.IsDBNullAsync(1, cancellationToken) ? null : rows.GetString(1),
            rows.GetInt32(2));
    }

    private async Task InsertAsync(string table, string rows, string insert, CancellationToken cancellationToken)
    {
        try
        {
            await ExecuteAsync(to, insert, cancellationToken, Json(rows));
        }
        catch (PostgresException e) when (EventStoreFailure.IsVersionTaken(e))
        {
            throw new StoreCopyException(
                $"'{to.Database}' has other events of shard {shard} than '{from.Database}': "
                + $"{e.MessageText}: {e.Detail}");
        }
        catch (PostgresException e) when (EventStoreFailure.RefusalOf(e) is not null)
        {
            throw new StoreCopyException(
                $"'{to.Database}' takes no rows of {table} as they are in '{from.Database}': {e.MessageText}");
        }
    }

    private async Task CompareAsync(
        string table, string rows, string isSame, CancellationToken cancellationToken, string without = OwnColumns)
    {
        await using var command = new NpgsqlCommand(
            $"select max(r::text) from jsonb_array_elements($1) r where {IsMissing(table, isSame, without)}", to)
        { CommandTimeout = 0 };
        command.Parameters.Add(Json(rows));
        if (await command.ExecuteScalarAsync(cancellationToken) is string different)
        {
            throw new StoreCopyException(
                $"A row of {table} in '{to.Database}' is not as it is in '{from.Database}': {different}");
        }
    }

    // Those of some rows that the other database does not have.
    private async Task<string> MissingAsync(string rows, string isMissing, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(
            $"select coalesce(jsonb_agg(r), '[]')::text from jsonb_array_elements($1) r where {isMissing}", to)
        { CommandTimeout = 0 };
        command.Parameters.Add(Json(rows));
        return (string)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    private string IsMissing(string table, string isSame, string without) =>
        $"not exists (select from {toSchema}.{table} t where {isSame} and to_jsonb(t) - ({without}) = r - ({without}))";

    private static async Task ExecuteAsync(
        NpgsqlConnection session, string sql, CancellationToken cancellationToken, params NpgsqlParameter[] parameters)
    {
        await using var command = new NpgsqlCommand(sql, session) { CommandTimeout = 0 };
        command.Parameters.AddRange(parameters);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private static NpgsqlParameter<string> Json(string rows) =>
        new() { TypedValue = rows, NpgsqlDbType = NpgsqlDbType.Jsonb };
}

/// <summary>What was copied differs from what it is a copy of.</summary>
public sealed class StoreCopyException(string message) : Exception(message);
