namespace Marten.Internal;

/// <summary>The statements of the event store, for one schema.</summary>
internal sealed class EventSql
{
    public EventSql(StoreOptions options)
    {
        var schema = $"\"{options.DatabaseSchemaName}\"";
        var streams = $"{schema}.mt_streams";
        InsertStreams = $"""
            with added as (
                insert into {streams} (id, version, tenant_id)
                select s.id, s.version, '{TypeNames.DefaultTenant}'
                from unnest($1::varchar[], $2::bigint[]) as s(id, version)
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
            insert into {streams} (id, version, tenant_id)
            values (($1::varchar[])[1], ($2::bigint[])[1], '{TypeNames.DefaultTenant}')
            returning 1
            """;
        MoveStream = $"""
            with moved as (
                update {streams} set version = ($3::bigint[])[1], timestamp = now()
                where id = ($1::varchar[])[1] and version = ($2::bigint[])[1]
                returning 1)
            select 1 / count(*) from moved
            """;

        // The database's time is put as the genuine library puts it: as a time without a zone, which the column then takes
        // for one of the session's zone. Only in a session at UTC is it now.
        InsertEvents = $"""
            insert into {schema}.mt_events
                (seq_id, id, stream_id, version, data, type, timestamp, tenant_id, mt_dotnet_type)
            select nextval('{schema}.mt_events_sequence'), e.id, e.stream_id, e.version, e.data, e.type,
                case when e.timestamp is null then (now() at time zone 'utc')::timestamptz else e.timestamp end,
                '{TypeNames.DefaultTenant}', e.dotnet_type
            from unnest($1::uuid[], $2::varchar[], $3::bigint[], $4::jsonb[], $5::varchar[], $6::varchar[], $7::timestamptz[])
                as e(id, stream_id, version, data, type, dotnet_type, timestamp)
            returning seq_id
            """;
        FetchStream = $"""
            select seq_id, id, version, data, type, timestamp, tenant_id
            from {schema}.mt_events
            where stream_id = $1
                and ($2 = 0 or version <= $2)
                and ($3::timestamptz is null or timestamp <= $3)
                and version >= $4
            order by version
            """;
        EstablishTombstoneStream = $"""
            insert into {streams} (id, tenant_id, version, is_archived)
            values ('mt_tombstone', '{TypeNames.DefaultTenant}', 0, false)
            on conflict (id) do nothing
            """;
        InsertTombstones = $$"""
            insert into {{schema}}.mt_events
                (seq_id, id, stream_id, version, data, type, timestamp, tenant_id, mt_dotnet_type)
            select t.seq_id, t.id, 'mt_tombstone', t.seq_id, '{}', 'tombstone', now(), '{{TypeNames.DefaultTenant}}',
                'JasperFx.Events.Tombstone, JasperFx.Events'
            from unnest($1::bigint[], $2::uuid[]) as t(seq_id, id)
            """;
    }

    /// <summary>$1 ids, $2 versions.</summary>
    public string InsertStreams { get; }

    /// <summary>$1 ids, $2 versions before, $3 versions after.</summary>
    public string MoveStreams { get; }

    /// <summary><see cref="InsertStreams"/> for one stream, which is planned in a fraction of the time.</summary>
    public string InsertStream { get; }

    /// <summary><see cref="MoveStreams"/> for one stream, which is planned in a fraction of the time.</summary>
    public string MoveStream { get; }

    /// <summary>Arrays; a time that is null is the database's.</summary>
    public string InsertEvents { get; }

    /// <summary>$1 id, $2 last version or 0, $3 last timestamp or null, $4 first version.</summary>
    public string FetchStream { get; }

    public string EstablishTombstoneStream { get; }

    /// <summary>$1 sequence numbers, $2 ids.</summary>
    public string InsertTombstones { get; }
}
