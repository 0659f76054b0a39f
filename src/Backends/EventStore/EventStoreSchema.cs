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
    Lazy<IDocumentStore> store, NpgsqlDataSource database, IOptions<EventStoreOptions> options, TimeProvider time)
{
    // The key of the advisory lock that lets services that start together take turns; any constant will do.
    private const long SchemaLock = 0x42494C4C;

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
        try
        {
            var sql = Sql(options.Value.Schema);
            var mark = new SchemaMark(options.Value.Schema, sql);
            await using (var pooled = await ConnectAsync(cancellationToken))
            {
                if (await mark.IsThereAsync(pooled, cancellationToken))
                {
                    return;
                }
            }
            // Marten takes no lock itself, and creates its tables on a connection from the pool: if the lock's connection came
            // from the pool too, a pool of one connection would deadlock.
            await using var connection = new NpgsqlConnection(options.Value.UnpooledConnectionString);
            await connection.OpenAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await LockAsync(connection, cancellationToken);
            if (!await mark.IsThereAsync(connection, cancellationToken))
            {
                await store.Value.Storage.ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate.CreateOrUpdate);
                await using var command = new NpgsqlCommand(sql, connection, transaction);
                await command.ExecuteNonQueryAsync(cancellationToken);
                await mark.SetAsync(connection, cancellationToken);
            }
            await transaction.CommitAsync(cancellationToken);
        }
        catch (Exception e) when (e is NpgsqlException or MartenException)
        {
            // Only the base exception's message: Marten's message lists every statement that it would have run.
            throw new StartupException(
                $"Billing:EventStore: the tables could not be created in the schema '{options.Value.Schema}': {e.GetBaseException().Message}", e);
        }
    }

    // Held until the transaction ends. Waits without a timeout: the holder may have many tables to create, and releases the
    // lock if its connection breaks.
    private static async Task LockAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var take = new NpgsqlCommand($"select pg_advisory_xact_lock({SchemaLock})", connection) { CommandTimeout = 0 };
        await take.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<NpgsqlConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                return await database.OpenConnectionAsync(cancellationToken);
            }
            catch (NpgsqlException e) when (!e.IsTransient || time.GetElapsedTime(start) > options.Value.StartTimeout)
            {
                var target = new NpgsqlConnectionStringBuilder(options.Value.ConnectionString);
                throw new StartupException(
                    $"Billing:EventStore:ConnectionString: PostgreSQL at {target.Host}:{target.Port}, database '{target.Database}', cannot be used: {e.InnerException?.Message ?? e.Message}", e);
            }
            catch (NpgsqlException)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(250), time, cancellationToken);
            }
        }
    }

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
