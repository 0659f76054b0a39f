using Billing.Hosting;
using JasperFx;
using Marten;
using Marten.Exceptions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>Creates the schema: Marten's tables, three more tables, and the functions that an append calls. Receipts hold, for each
/// transaction id, the event that answered it; snapshots hold accounts as of some version, so that a long stream need not be
/// read from its start; epochs number the owners of each partition, so that a former one cannot append.</summary>
public sealed class EventStoreSchema(
    IDocumentStore store, StoreServers servers, IOptions<EventStoreOptions> options, TimeProvider time)
{
    // The key of the advisory lock that lets services that start together take turns; any constant will do.
    private const long SchemaLock = 0x42494C4C;

    // While a change of a table waits for its lock, appends wait behind it; so it waits briefly (EventStoreOptions), and again later.
    private static readonly TimeSpan LockedDelay = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LockedMax = TimeSpan.FromMinutes(5);

    internal const string ReceiptsTable = "payment_receipts";

    /// <summary>The qualified name of the table of receipts.</summary>
    public static string Receipts(string schema) => schema + "." + ReceiptsTable;

    /// <summary>The qualified name of the table of snapshots.</summary>
    public static string Snapshots(string schema) => schema + ".account_snapshots";

    internal static string Epochs(string schema) => schema + ".partition_epochs";

    /// <summary>Creates what is missing. If the same version of the program has checked the tables before and they are unchanged, one
    /// statement confirms that. Otherwise services that start together take turns, in any order; while one waits for its turn,
    /// it holds one connection in addition to those of the pool.</summary>
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
            while (!await TryCreateAsync(mark, sql, start, cancellationToken))
            {
                await Task.Delay(LockedDelay, time, cancellationToken);
            }
        }
        catch (Exception e) when (e is NpgsqlException or MartenException)
        {
            // Only the base exception's message: Marten's message lists every statement that it would have run.
            throw new StartupException(
                $"Billing:EventStore: the tables could not be created in the schema '{options.Value.Schema}': {e.GetBaseException().Message}", e);
        }
    }

    // Returns false if another session holds the lock of a table, and there is time to try again.
    private async Task<bool> TryCreateAsync(SchemaMark mark, string sql, long start, CancellationToken cancellationToken)
    {
        try
        {
            // Marten takes no lock itself, and creates its tables on a connection from the pool: if the lock's connection came
            // from the pool too, a pool of one connection would deadlock.
            await using var connection = new NpgsqlConnection(options.Value.UnpooledConnectionString);
            await connection.OpenAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            // Held until the transaction ends. Whoever holds it may have many tables to create; nothing waits behind those who wait for it.
            await ExecuteAsync(
                connection,
                $"set local lock_timeout = '1min'; select pg_advisory_xact_lock({SchemaLock}); set local lock_timeout = '{EventStoreOptions.LockTimeout}'",
                cancellationToken);
            if (!await mark.IsThereAsync(connection, cancellationToken))
            {
                await store.Storage.ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate.CreateOrUpdate);
                await ExecuteAsync(connection, sql, cancellationToken);
                await mark.SetAsync(connection, cancellationToken);
            }
            await transaction.CommitAsync(cancellationToken);
            return true;
        }
        catch (Exception e) when (e.GetBaseException() is PostgresException { SqlState: PostgresErrorCodes.LockNotAvailable }
            && time.GetElapsedTime(start) < LockedMax)
        {
            return false;
        }
    }

    private static async Task ExecuteAsync(NpgsqlConnection connection, string sql, CancellationToken cancellationToken)
    {
        // The server bounds the waits for locks; the client's own bound, 30 s, would end that for the turn.
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
                return await servers.Primary.OpenConnectionAsync(cancellationToken);
            }
            catch (NpgsqlException e) when (!IsTransient(e) || time.GetElapsedTime(start) > options.Value.StartTimeout)
            {
                var target = new NpgsqlConnectionStringBuilder(options.Value.ConnectionString);
                var host = options.Value.HasSeveralServers ? target.Host : $"{target.Host}:{target.Port}";
                throw new StartupException(
                    $"Billing:EventStore:ConnectionString: PostgreSQL at {host}, database '{target.Database}', cannot be used: {e.InnerException?.Message ?? e.Message}", e);
            }
            catch (NpgsqlException)
            {
                await servers.LookForPrimaryAsync(cancellationToken);
                await Task.Delay(TimeSpan.FromMilliseconds(250), time, cancellationToken);
            }
        }
    }

    // That no server is the primary is over when one has been promoted.
    private bool IsTransient(NpgsqlException failure) =>
        failure.IsTransient || (options.Value.HasSeveralServers && failure is not PostgresException);

    private static string Sql(string schema) => string.Join(
        Environment.NewLine,
        Missing(Receipts(schema), """
            transaction_id uuid primary key,
            event bytea not null
            """),
        Missing(Snapshots(schema), """
            stream_id varchar primary key,
            version bigint not null,
            balance numeric not null,
            credit_limit numeric not null,
            currency varchar
            """),
        Missing(Epochs(schema), """
            topic varchar not null,
            number integer not null,
            epoch bigint not null,
            primary key (topic, number)
            """),
        StoredFunction.AppendEvents.Sql(schema),
        StoredFunction.HoldEpochs.Sql(schema));

    // Not "if not exists": that requires the right to create tables even if the table exists, and a backend's role need not
    // have that right.
    private static string Missing(string table, string columns) =>
        $"do $do$ begin if to_regclass('{table}') is null then create table {table} ({columns}); end if; end $do$;";
}
