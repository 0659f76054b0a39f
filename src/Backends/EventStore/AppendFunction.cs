namespace Billing.Backends.EventStore;

/// <summary>A PostgreSQL function of this project that appends the events of many streams at once to Marten's tables, called
/// within Marten's session and its transaction. Marten's own append calls a function for each stream, with separate parameters:
/// that was half of what a payment cost PostgreSQL, and two thirds of what a payment backend allocated for it
/// (<see href="https://martendb.io/events/appending.html"/>; figures in docs/performance.md). The rows are those that Marten
/// would store, and Marten's guarantee holds: an append to a stream whose version has changed fails. The function's query plans
/// are cached and may be made while the tables are small, so sessions have to be set up as in <see cref="EventStoreOptions"/>,
/// for plans that suit large tables.</summary>
internal static class AppendFunction
{
    /// <summary>The SQLSTATE of an append to a stream whose version has changed: in the class of integrity constraint violations,
    /// but none of PostgreSQL's own codes.</summary>
    public const string StreamMoved = "23B01";

    /// <summary>The statement that calls it; its parameters are each stream's id, version before and version after, then each
    /// event's id, stream, version, type, .NET type and JSON.</summary>
    public static string Call(string schema) => $"select {schema}.append_events(?, ?, ?, ?, ?, ?, ?, ?, ?)";

    /// <summary>The statement that creates the function if it is missing or different.</summary>
    public static string Sql(string schema) => StoredFunction.Sql(
        schema, "append_events",
        [
            ("streams", "varchar[]"), ("befores", "bigint[]"), ("afters", "bigint[]"), ("event_ids", "uuid[]"),
            ("event_streams", "varchar[]"), ("versions", "bigint[]"), ("types", "varchar[]"), ("dotnet_types", "varchar[]"),
            ("bodies", "text[]"),
        ],
        Body(schema));

    private static string Body(string schema) => $"""

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
                where k.id = s.id and k.version = s.before and s.before > 0;
                get diagnostics moved = row_count;
                if opened + moved < cardinality(streams) then
                    raise exception 'A stream has moved on.' using errcode = '{StreamMoved}';
                end if;
            end if;
            insert into {schema}.mt_events
                (seq_id, id, stream_id, version, data, type, timestamp, tenant_id, mt_dotnet_type, is_archived)
            select nextval('{schema}.mt_events_sequence'), e.id, e.stream_id, e.version, e.body::jsonb, e.type, now(), '*DEFAULT*',
                e.dotnet_type, false
            from unnest(event_ids, event_streams, versions, types, dotnet_types, bodies)
                as e(id, stream_id, version, type, dotnet_type, body);
        end
        """;
}
