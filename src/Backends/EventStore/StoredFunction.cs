namespace Billing.Backends.EventStore;

/// <summary>A PostgreSQL function of this project. The parameters of one name, and their meaning, never change: two
/// versions of the program run side by side during an upgrade.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Parameters">Its parameters, each with a name and a type.</param>
/// <param name="Body">Its body in PL/pgSQL, for a schema; it returns nothing.</param>
internal sealed record StoredFunction(string Name, (string Name, string Type)[] Parameters, Func<string, string> Body)
{
    /// <summary>The SQLSTATE of an append to a stream whose version has changed: in the class of integrity constraint
    /// violations, but none of PostgreSQL's own codes.</summary>
    public const string StreamMoved = "23B01";

    /// <summary>The SQLSTATE of an append under an epoch that has ended, likewise.</summary>
    public const string EpochEnded = "23B02";

    /// <summary>The SQLSTATE of an append to a shard that is not in this database, likewise;
    /// the message ends with a list of such shards.</summary>
    public const string ShardElsewhere = "23B04";

    /// <summary>The key of the advisory lock that whoever changes the shards of a database takes, and appends share;
    /// any constant will do.</summary>
    internal const long ShardLock = 0x42494C53;

    /// <summary>The SQLSTATE of an append to an archived stream, likewise.</summary>
    public const string StreamArchived = "23B03";

    /// <summary>Appends the events of many streams at once to Marten's tables. Marten's own append calls a function
    /// for each stream, with separate parameters: that was half of what a payment cost PostgreSQL, and two thirds of
    /// what a payment backend allocated for it (<see href="https://martendb.io/events/appending.html"/>; figures in
    /// docs/performance.md). The rows are those that Marten would store, and Marten's guarantee holds: an append to
    /// a stream whose version has changed fails. The function's query plans are cached and may be made while the
    /// tables are small, so sessions have to be set up as in <see cref="EventStoreOptions"/>, for plans that suit
    /// large tables.</summary>
    public static StoredFunction AppendEvents { get; } = new(
        "append_events",
        [
            ("streams", "varchar[]"), ("befores", "bigint[]"), ("afters", "bigint[]"), ("event_ids", "uuid[]"),
            ("event_streams", "varchar[]"), ("versions", "bigint[]"),
            ("types", "varchar[]"), ("dotnet_types", "varchar[]"),
            ("bodies", "text[]"),
        ],
        schema => $"""

        declare
            opened bigint;
            moved bigint;
        begin
            insert into {schema}.mt_streams (id, version, timestamp, created, tenant_id)
            select s.id, s.after, now(), now(), '*DEFAULT*'
            from unnest(streams, befores, afters) as s(id, before, after) where s.before = 0;
            get diagnostics opened = row_count;
            if opened < cardinality(streams) then
                update {schema}.mt_streams k set version = s.after, timestamp = now()
                from unnest(streams, befores, afters) as s(id, before, after)
                where k.id = s.id and k.version = s.before and s.before > 0 and not k.is_archived;
                get diagnostics moved = row_count;
                if opened + moved < cardinality(streams) then
                    if exists (select from {schema}.mt_streams k where k.id = any(streams) and k.is_archived) then
                        raise exception 'A stream is archived.' using errcode = '{StreamArchived}';
                    end if;
                    raise exception 'A stream has moved on.' using errcode = '{StreamMoved}';
                end if;
            end if;
            insert into {schema}.mt_events
                (seq_id, id, stream_id, version, data, type, timestamp, tenant_id, mt_dotnet_type, is_archived)
            select nextval('{schema}.mt_events_sequence'), e.id, e.stream_id, e.version, e.body::jsonb, e.type, now(),
                '*DEFAULT*',
                e.dotnet_type, false
            from unnest(event_ids, event_streams, versions, types, dotnet_types, bodies)
                as e(id, stream_id, version, type, dotnet_type, body);
        end
        """);

    /// <summary>Fails if the versions of streams are not those by which somebody has decided;
    /// a stream that is not there has the version 0.</summary>
    public static StoredFunction RequireVersions { get; } = new(
        "require_versions",
        [("streams", "varchar[]"), ("versions", "bigint[]")],
        schema => $"""

        begin
            if exists (select from unnest(streams, versions) as s(id, version) left
                join {schema}.mt_streams k on k.id = s.id
                where coalesce(k.version, 0) <> s.version)
            then
                raise exception 'A stream has moved on.' using errcode = '{StreamMoved}';
            end if;
        end
        """);

    /// <summary>Appends and whatever else records something call this first. It fails if a shard is not in this
    /// database, or is there under another number than the one given (0 for any), or if an epoch has ended, and
    /// otherwise keeps all that from changing before the transaction ends. So once a shard is closed, or a new owner of
    /// a partition has begun its epoch, nothing that a former owner does can be stored any more, however late it comes:
    /// the fencing token of M. Kleppmann, Designing Data-Intensive Applications, chapter 8. One lock for all shards,
    /// since a row that many transactions lock at once costs each of them a write.</summary>
    public static StoredFunction RequireFence { get; } = new(
        "require_fence",
        [
            ("shards", "integer[]"), ("shard_epochs", "bigint[]"), ("topics", "varchar[]"),
            ("numbers", "integer[]"), ("epochs", "bigint[]"),
        ],
        schema => $"""

        declare
            held bigint;
            elsewhere text;
        begin
            perform pg_advisory_xact_lock_shared({ShardLock});
            select count(*) into held from {EventStoreSchema.ShardsHere(schema)} h where h.number = any(shards)
                and h.is_held and h.moving_to is null
                and shard_epochs[array_position(shards, h.number)] in (0, h.epoch);
            if held < cardinality(shards) then
                select string_agg(s.number::text, ',') into elsewhere
                    from unnest(shards, shard_epochs) as s(number, epoch)
                where not exists (select from {EventStoreSchema.ShardsHere(schema)} h
                    where h.number = s.number and h.is_held and h.moving_to is null and s.epoch in (0, h.epoch));
                raise exception 'Not in this database: the shards %', elsewhere using errcode = '{ShardElsewhere}';
            end if;
            if cardinality(topics) > 0 then
                perform from {EventStoreSchema.Epochs(schema)} p
                    join unnest(topics, numbers, epochs) as o(topic, number, epoch)
                    on p.topic = o.topic and p.number = o.number and p.epoch = o.epoch
                order by p.topic, p.number
                for share of p;
                get diagnostics held = row_count;
                if held < cardinality(topics) then
                    raise exception 'A partition has a later owner.' using errcode = '{EpochEnded}';
                end if;
            end if;
        end
        """);

    /// <summary>Begins a new incarnation of a database that was restored to an earlier time: the shards and the
    /// partitions that it holds get numbers that they never had, also if it is restored again. So what the platform
    /// records from now on is told from what was lost, and no owner of the time before records anything any more. A
    /// shard whose move was interrupted gets a number, too, unless it is one of <c>elsewhere</c>, the shards that some
    /// database holds open: there it gets one. It waits for what is being recorded. To call it again does no harm. The
    /// owner of the tables calls it, in PostgreSQL or through <c>./billing restored</c>.</summary>
    public static StoredFunction BeginIncarnation { get; } = new(
        "begin_incarnation",
        [("elsewhere", "integer[]")],
        schema => $"""

        declare
            -- The time, since the numbers that were given after the moment to which it was restored are not known here.
            begun bigint := extract(epoch from clock_timestamp())::bigint;
        begin
            perform pg_advisory_xact_lock({ShardLock});
            -- Of a shard whose move was interrupted, another database may hold the later number.
            update {EventStoreSchema.ShardsHere(schema)} set epoch = greatest(epoch + 1, begun)
            where is_held and (moving_to is null or not number = any(elsewhere));
            update {EventStoreSchema.Epochs(schema)} set epoch = greatest(epoch + 1, begun), owner = null;
        end
        """);

    /// <summary>The statement that calls it.</summary>
    public string Call(string schema) =>
        $"select {schema}.{Name}({string.Join(", ", Parameters.Select((_, i) => $"${i + 1}"))})";

    /// <summary>The statement that creates it if it is missing or different.</summary>
    public string Sql(string schema) => $"""
        do $do$ begin
            if (select prosrc from pg_proc where oid = to_regprocedure('{schema}.{Name}({List(p => p.Type)})'))
                is distinct from $body${Body(schema)}$body$
            then
                create or replace function {schema}.{Name}({List(p => p.Name + " " + p.Type)})
                returns void language plpgsql as $body${Body(schema)}$body$;
            end if;
        end $do$;
        """;

    private string List(Func<(string Name, string Type), string> item) => string.Join(", ", Parameters.Select(item));
}
