namespace Billing.Webhooks;

/// <summary>The tables, and the statements that create them. <c>pending</c> holds the events that a receiver has not
/// taken, and <c>accounts</c> one row for each receiver and account that has such events: a delivery claims this row,
/// so that an account's events are sent by one service at a time, in order.</summary>
internal static class WebhookTables
{
    // Services that start together take turns; any constant will do.
    private const long SchemaLock = 0x42494C57;

    public static string Pending(string schema) => $"{schema}.pending";

    public static string Accounts(string schema) => $"{schema}.accounts";

    // Not "if not exists": that requires the right to create even if there is nothing to create, which a service's role
    // need not have. Rows live briefly: dead ones are removed early, so that the next due account is found at once.
    // What waits is counted in an index.
    public static string Sql(string schema) => $"""
        do $do$ begin
            perform pg_advisory_xact_lock({SchemaLock});
            if to_regnamespace('{schema}') is null then
                create schema {schema};
            end if;
            if to_regclass('{Pending(schema)}') is null then
                create table {Pending(schema)} (
                    receiver varchar not null,
                    stream_id varchar not null,
                    incarnation bigint not null,
                    version bigint not null,
                    id uuid not null,
                    body varchar not null,
                    arrived_at timestamptz not null default now(),
                    primary key (receiver, stream_id, incarnation, version, id)
                ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
                create index pending_arrival on {Pending(schema)} (receiver, arrived_at);
                create table {Accounts(schema)} (
                    receiver varchar not null,
                    stream_id varchar not null,
                    due_at timestamptz,
                    claim uuid,
                    failures integer not null default 0,
                    failing_since timestamptz,
                    failure varchar,
                    primary key (receiver, stream_id)
                ) with (autovacuum_vacuum_scale_factor = 0.02);
                create index accounts_due on {Accounts(schema)} (receiver, due_at);
                comment on column {Accounts(schema)}.due_at is
                    'when it is tried next; while it is claimed, when the claim ends; null: parked';
            end if;
        end $do$;
        """;
}
