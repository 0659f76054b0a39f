using JasperFx.Events;
using Marten.Events;

namespace Marten.Internal;

/// <summary>The statements of the event store, for one schema and one set of metadata columns.</summary>
internal sealed class EventSql
{
    public EventSql(EventGraph events)
    {
        Schema = $"\"{events.DatabaseSchemaName}\"";
        Metadata = MetadataColumns(events.MetadataConfig);
        var streams = $"{Schema}.mt_streams";
        InsertStreams = $"""
            with added as (
                insert into {streams} (id, type, version, tenant_id)
                select s.id, s.type, s.version, '{TypeNames.DefaultTenant}'
                from unnest($1::varchar[], $2::varchar[], $3::bigint[]) as s(id, type, version)
                order by s.id collate "C"
                returning 1)
            select count(*) from added
            """;

        // A stream that is not where it should be makes the count fall short, and the division by zero undoes the whole
        // transaction without a round trip to ask. Rows are locked in one order so that writers cannot deadlock.
        MoveStreams = $"""
            with wanted as (
                select w.id, w.was, w.will
                from unnest($1::varchar[], $2::bigint[], $3::bigint[]) as w(id, was, will)),
            held as (
                select s.id from {streams} s join wanted w on s.id = w.id and s.version = w.was
                order by s.id collate "C"
                for update of s),
            moved as (
                update {streams} s set version = w.will, timestamp = now()
                from wanted w join held h on h.id = w.id
                where s.id = w.id
                returning 1)
            select 1 / (case when count(*) = cardinality($1) then 1 else 0 end) from moved
            """;
        InsertStream = $"""
            insert into {streams} (id, type, version, tenant_id)
            values (($1::varchar[])[1], ($2::varchar[])[1], ($3::bigint[])[1], '{TypeNames.DefaultTenant}')
            returning 1
            """;
        MoveStream = $"""
            with moved as (
                update {streams} set version = ($3::bigint[])[1], timestamp = now()
                where id = ($1::varchar[])[1] and version = ($2::bigint[])[1]
                returning 1)
            select 1 / count(*) from moved
            """;
        PutStreams = $"""
            with put as (
                insert into {streams} as s (id, type, version, tenant_id)
                select n.id, n.type, n.version, '{TypeNames.DefaultTenant}'
                from unnest($1::varchar[], $2::varchar[], $3::bigint[]) as n(id, type, version)
                order by n.id collate "C"
                on conflict (id) do update set version = s.version + excluded.version, timestamp = now()
                returning 1)
            select count(*) from put
            """;
        InsertEvents = InsertEventsFrom(
            $"unnest({EventArrays()}) as e({EventColumns()})",
            "e.position",
            events.AppendMode);
        InsertEventsAfterPut = InsertEventsFrom(
            $"""
            (select u.*, s.version as stream_version
                from unnest({EventArrays()}) with ordinality as u({EventColumns()}, ord)
                join {streams} s on s.id = u.stream_id
                order by u.ord) as e
            """,
            "e.stream_version - e.position",
            events.AppendMode);
        FetchState = $"select version, type, timestamp, created, is_archived from {streams} where id = $1";
        FetchStream = $"""
            select seq_id, id, version, data, type, timestamp, mt_dotnet_type, tenant_id, is_archived{MetadataList("")}
            from {Schema}.mt_events
            where stream_id = $1
                and ($2 = 0 or version <= $2)
                and ($3::timestamptz is null or timestamp <= $3)
                and version >= $4
            order by version
            """;
        Versions = $"select id, version from {streams} where id = any($1)";
    }

    public string Schema { get; }

    /// <summary>Each column's name and type, in the order of the parameters.</summary>
    public IReadOnlyList<(string Name, string Type)> Metadata { get; }

    /// <summary>$1 ids, $2 types, $3 versions.</summary>
    public string InsertStreams { get; }

    /// <summary>$1 ids, $2 versions before, $3 versions after.</summary>
    public string MoveStreams { get; }

    /// <summary><see cref="InsertStreams"/> for one stream, which is planned in a fraction of the time.</summary>
    public string InsertStream { get; }

    /// <summary><see cref="MoveStreams"/> for one stream, which is planned in a fraction of the time.</summary>
    public string MoveStream { get; }

    /// <summary>$1 ids, $2 types, $3 numbers of events: makes the stream or moves it on from wherever it is.</summary>
    public string PutStreams { get; }

    /// <summary>$1 timestamp, then arrays; position is the version.</summary>
    public string InsertEvents { get; }

    /// <summary>The same, but position counts back from the version that the stream has got by now.</summary>
    public string InsertEventsAfterPut { get; }

    public string FetchState { get; }

    /// <summary>$1 id, $2 last version or 0, $3 last timestamp or null, $4 first version.</summary>
    public string FetchStream { get; }

    public string Versions { get; }

    public static List<(string Name, string Type)> MetadataColumns(MetadataConfig config)
    {
        List<(string, string)> columns = [];
        if (config.CorrelationIdEnabled)
        {
            columns.Add(("correlation_id", "varchar"));
        }

        if (config.CausationIdEnabled)
        {
            columns.Add(("causation_id", "varchar"));
        }

        if (config.HeadersEnabled)
        {
            columns.Add(("headers", "jsonb"));
        }

        if (config.UserNameEnabled)
        {
            columns.Add(("user_name", "varchar"));
        }

        return columns;
    }

    private string EventArrays()
    {
        var arrays = "$2::uuid[], $3::varchar[], $4::bigint[], $5::jsonb[], $6::varchar[], $7::varchar[]";
        return arrays + string.Concat(Metadata.Select((column, i) => $", ${i + 8}::{column.Type}[]"));
    }

    private string EventColumns() => "id, stream_id, position, data, type, dotnet_type" + MetadataList("");

    private string MetadataList(string prefix) => string.Concat(Metadata.Select(column => $", {prefix}{column.Name}"));

    private string InsertEventsFrom(string source, string version, EventAppendMode mode)
    {
        var timestamp = mode == EventAppendMode.QuickWithServerTimestamps
            ? "coalesce(now(), $1::timestamptz)"
            : "$1::timestamptz";
        return $"""
            insert into {Schema}.mt_events
                (seq_id, id, stream_id, version, data, type, timestamp, tenant_id, mt_dotnet_type{MetadataList("")})
            select nextval('{Schema}.mt_events_sequence'), e.id, e.stream_id, {version}, e.data, e.type,
                {timestamp}, '{TypeNames.DefaultTenant}', e.dotnet_type{MetadataList("e.")}
            from {source}
            returning seq_id, version, timestamp
            """;
    }
}
