using Billing.Hosting;
using JasperFx;
using Marten;
using Marten.Exceptions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>Creates the schema: Marten's tables, with a constraint by which a command has one event, and more indexes;
/// three more tables, and the functions that an append calls. Open holds are the payments of which something is on
/// hold, with when that expires; epochs number the owners of each partition, so that a former one cannot append; and
/// shards are the groups of accounts that this database holds.</summary>
public sealed class EventStoreSchema(
    IDocumentStore store, StoreServers servers, IOptions<EventStoreOptions> options, TimeProvider time)
{
    // The key of the advisory lock that lets services that start together take turns; any constant will do.
    private const long SchemaLock = 0x42494C4C;

    // While a change of a table waits for its lock, appends wait behind it; so it waits briefly
    // (EventStoreOptions), and again later.
    private static readonly TimeSpan TurnDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LockedDelay = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LockedMax = TimeSpan.FromMinutes(5);

    /// <summary>The constraint by which a command has at most one event (<see cref="CommandId.EventId"/>).</summary>
    internal const string OneEventForEachCommand = "mt_events_command";

    /// <summary>The index of the events that set credit limits, of which an account has few
    /// (<see cref="AccountStore.LoadAsync"/>).</summary>
    internal static string CreditLimitEvents { get; } = "mt_events_" + EventTypes.CreditLimit;

    /// <summary>The index of the events that follow up payments, by the payment
    /// (<see cref="AccountStore.LastFollowUpsAsync"/>).</summary>
    internal const string FollowUpEvents = "mt_events_follow_ups";

    /// <summary>The index by which the events of a day are found.</summary>
    internal const string EventsByTime = "mt_events_timestamp";

    private const int StreamsFillFactor = 80;

    internal const string OpenHoldsTable = "open_holds";

    internal const string ShardsTable = "shards";

    /// <summary>The qualified name of the table of the shards that the database holds, or has held.</summary>
    public static string ShardsHere(string schema) => schema + "." + ShardsTable;

    /// <summary>The qualified name of the table of the payments of which something is on hold.</summary>
    public static string OpenHolds(string schema) => schema + "." + OpenHoldsTable;

    internal static string Epochs(string schema) => schema + ".partition_epochs";

    /// <summary>Creates what is missing. If the same version of the program has checked the tables before and they are
    /// unchanged, one statement confirms that. Otherwise services that start together take turns, in any order; while
    /// one waits for its turn, it holds one connection in addition to those of the pool.</summary>
    /// <exception cref="StartupException">PostgreSQL cannot be reached, or refuses a statement.</exception>
    public async Task EnsureAsync(CancellationToken cancellationToken)
    {
        AppendRequirements.Check(store.Options);
        var sql = Sql(options.Value.Schema);
        var mark = new SchemaMark(options.Value.Schema, sql);
        try
        {
            await using (var pooled = await ConnectAsync(cancellationToken))
            {
                if (await mark.IsThereAsync(pooled, cancellationToken))
                {
                    return;
                }
            }
            var start = time.GetTimestamp();
            while (await TryCreateAsync(mark, sql, start, cancellationToken) is { } wait)
            {
                await Task.Delay(wait, time, cancellationToken);
            }
        }
        catch (Exception e) when (e is NpgsqlException or MartenException)
        {
            // Only the base exception's message: Marten's message lists every statement that it would have run.
            throw new StartupException(
                $"Billing:EventStore: the tables could not be created in the schema '{options.Value.Schema}': "
                    + $"{e.GetBaseException().Message}", e);
        }
    }

    // Returns how long to wait until the next try: if it is another service's turn; or if another session holds the
    // lock of a table, and there is time to try again.
    private async Task<TimeSpan?> TryCreateAsync(
        SchemaMark mark, string sql, long start, CancellationToken cancellationToken)
    {
        try
        {
            // Marten takes no lock itself, and creates its tables on a connection from the pool: if the lock's
            // connection came from the pool too, a pool of one connection would deadlock.
            await using var connection = await servers.Unpooled.OpenConnectionAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            // Held until the transaction ends. The session itself waits for no lock as long as the tables may take.
            await using var turn = new NpgsqlCommand($"select pg_try_advisory_xact_lock({SchemaLock})", connection);
            if (await turn.ExecuteScalarAsync(cancellationToken) is not true)
            {
                return TurnDelay;
            }
            if (!await mark.IsThereAsync(connection, cancellationToken))
            {
                await store.Storage.ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate.CreateOrUpdate);
                await ExecuteAsync(
                    connection, $"set local lock_timeout = '{EventStoreOptions.Milliseconds(StoreTimes.Lock)}'",
                    cancellationToken);
                await ExecuteAsync(connection, sql, cancellationToken);
                await mark.SetAsync(connection, cancellationToken);
            }
            await transaction.CommitAsync(cancellationToken);
            return null;
        }
        catch (Exception e)
            when (e.GetBaseException() is PostgresException { SqlState: PostgresErrorCodes.LockNotAvailable }
                && time.GetElapsedTime(start) < LockedMax)
        {
            return LockedDelay;
        }
    }

    private static async Task ExecuteAsync(NpgsqlConnection connection, string sql, CancellationToken cancellationToken)
    {
        // The server bounds the waits for locks; the client's own bound, 30 s, would end the building of a large index.
        await using var command = new NpgsqlCommand(sql, connection) { CommandTimeout = 0 };
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<NpgsqlConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                return await servers.UseAsync(
                    async (primary, token) => await primary.OpenConnectionAsync(token), cancellationToken);
            }
            catch (NpgsqlException e) when (!IsTransient(e) || time.GetElapsedTime(start) > options.Value.StartTimeout)
            {
                var target = new NpgsqlConnectionStringBuilder(options.Value.ConnectionString);
                var host = options.Value.HasSeveralServers ? target.Host : $"{target.Host}:{target.Port}";
                throw new StartupException(
                    $"Billing:EventStore:ConnectionString: PostgreSQL at {host}, database '{target.Database}', "
                        + $"cannot be used: {e.InnerException?.Message ?? e.Message}", e);
            }
            catch (NpgsqlException)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(250), time, cancellationToken);
            }
        }
    }

    // That no server is the primary is over when one has been promoted.
    private bool IsTransient(NpgsqlException failure) =>
        failure.IsTransient || (options.Value.HasSeveralServers && failure is not PostgresException);

    private static string Sql(string schema) => string.Join(
        Environment.NewLine,
        Missing(OpenHolds(schema), """
            stream_id varchar not null,
            payment_id uuid not null,
            expires_at timestamptz not null,
            taken_at timestamptz,
            primary key (stream_id, payment_id),
            unique (expires_at, stream_id, payment_id)
            """),
        Missing(Epochs(schema), """
            topic varchar not null,
            number integer not null,
            epoch bigint not null,
            owner uuid,
            primary key (topic, number)
            """),
        $"insert into {schema}.mt_streams (id, version) values ('{EventTypes.TombstoneStream}', 0) on "
            + "conflict do nothing;",
        MissingIndex(schema, CreditLimitEvents, $"(stream_id, version) where {AccountStore.SetsCreditLimit}"),
        MissingIndex(
            schema, FollowUpEvents,
            $"(stream_id, {AccountStore.FollowedUpPayment}, version) "
            + $"where {AccountStore.FollowedUpPayment} is not null"),
        MissingIndex(schema, EventsByTime, "(timestamp)"),
        $"""
        do $do$ begin
            if not exists (select from pg_constraint
                where conrelid = '{schema}.mt_events'::regclass and conname = '{OneEventForEachCommand}')
            then
                alter table {schema}.mt_events add constraint {OneEventForEachCommand} unique (id);
            end if;
        end $do$;
        """,
        // Each append updates its stream's row: where its page has room for the new version of the row, the index needs
        // no entry for it (docs/experiments/2026-11-25-years.md). A fill factor that an administrator has set is kept.
        $"""
        do $do$ begin
            if not exists (select from pg_class, unnest(reloptions) o where oid = '{schema}.mt_streams'::regclass
                and o like 'fillfactor=%') then
                alter table {schema}.mt_streams set (fillfactor = {StreamsFillFactor});
            end if;
        end $do$;
        """,
        StoredFunction.AppendEvents.Sql(schema),
        StoredFunction.RequireVersions.Sql(schema),
        Missing(ShardsHere(schema), """
            number integer primary key,
            epoch bigint not null,
            is_held boolean not null,
            moving_to varchar
            """),
        $"""
        do $do$ begin
            if to_regprocedure('{schema}.{Shard.Function}(varchar)') is null then
                create function {schema}.{Shard.Function}(stream varchar) returns integer
                    language sql immutable strict parallel safe
                as $body${Shard.FunctionBody}$body$;
            end if;
        end $do$;
        """,
        StoredFunction.RequireFence.Sql(schema),
        StoredFunction.BeginIncarnation.Sql(schema));

    // Not "if not exists": that requires the right to create tables even if the table exists, and a backend's role need
    // not have that right.
    private static string Missing(string table, string columns) =>
        IfMissing(table, $"create table {table} ({columns})");

    // Appends wait until it is built: a new store has no events yet, and an index that somebody has dropped is
    // missed by all of them.
    private static string MissingIndex(string schema, string name, string columns) =>
        IfMissing($"{schema}.{name}", $"create index {name} on {schema}.mt_events {columns}");

    private static string IfMissing(string name, string create) =>
        $"do $do$ begin if to_regclass('{name}') is null then {create}; end if; end $do$;";
}
