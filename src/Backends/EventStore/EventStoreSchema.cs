using Billing.Messaging.Hosting;
using JasperFx;
using Marten;
using Marten.Exceptions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>Makes the tables: Marten's own, and two beside them, with the function that appends. Receipts hold, for each
/// transaction id, the event that answered it; snapshots hold accounts as of some version, so that a long stream need not be read
/// from its start.</summary>
public sealed class EventStoreSchema(
    Lazy<IDocumentStore> store, NpgsqlDataSource database, IOptions<EventStoreOptions> options, TimeProvider time)
{
    // Any constant will do; services that start together take turns on it.
    private const long SchemaLock = 0x42494C4C;

    /// <summary>The name of the table of receipts.</summary>
    public const string ReceiptsTable = "payment_receipts";

    /// <summary>The table of receipts.</summary>
    public static string Receipts(string schema) => schema + "." + ReceiptsTable;

    /// <summary>The table of snapshots.</summary>
    public static string Snapshots(string schema) => schema + ".account_snapshots";

    /// <summary>Makes what is missing. Where a program like this one has seen to the tables and they are as it left them, that is one
    /// statement. Elsewhere services that start together take turns, whichever of them comes first; while one waits for its
    /// turn it holds one connection beyond those of the pool.</summary>
    /// <exception cref="StartupException">PostgreSQL cannot be reached, or refuses.</exception>
    public async Task EnsureAsync(CancellationToken cancellationToken)
    {
        await WaitForDatabaseAsync(cancellationToken);
        try
        {
            if (await IsThereAsync(cancellationToken))
            {
                return;
            }
            // Marten takes no lock of its own, and makes its tables on a connection of the pool: with the lock's connection
            // out of that pool too, a pool of one would wait for itself.
            await using var connection = new NpgsqlConnection(options.Value.UnpooledConnectionString);
            await connection.OpenAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await LockAsync(connection, cancellationToken);
            if (!await SchemaMark.IsThereAsync(connection, options.Value.Schema, Sql(), cancellationToken))
            {
                await store.Value.Storage.ApplyAllConfiguredChangesToDatabaseAsync(AutoCreate.CreateOrUpdate);
                await using var command = new NpgsqlCommand(Sql(), connection, transaction);
                await command.ExecuteNonQueryAsync(cancellationToken);
                await SchemaMark.SetAsync(connection, options.Value.Schema, Sql(), cancellationToken);
            }
            await transaction.CommitAsync(cancellationToken);
        }
        catch (Exception e) when (e is NpgsqlException or MartenException)
        {
            // The cause alone: what Marten says of it is every statement that it would have run.
            throw new StartupException(
                $"Billing:EventStore: the tables could not be made in the schema '{options.Value.Schema}': {e.GetBaseException().Message}", e);
        }
    }

    // Until the transaction ends. Without a time-out: whoever holds the lock may have many tables to make, and lets go of
    // it when its connection breaks.
    private static async Task LockAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var take = new NpgsqlCommand($"select pg_advisory_xact_lock({SchemaLock})", connection) { CommandTimeout = 0 };
        await take.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<bool> IsThereAsync(CancellationToken cancellationToken)
    {
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        return await SchemaMark.IsThereAsync(connection, options.Value.Schema, Sql(), cancellationToken);
    }

    private async Task WaitForDatabaseAsync(CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                await using var connection = await database.OpenConnectionAsync(cancellationToken);
                return;
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

    private string Sql() => string.Join(
        Environment.NewLine,
        Missing(Receipts(options.Value.Schema), """
            transaction_id uuid primary key,
            event bytea not null
            """),
        Missing(Snapshots(options.Value.Schema), """
            stream_id varchar primary key,
            version bigint not null,
            balance numeric not null,
            credit_limit numeric not null,
            currency varchar
            """),
        AppendFunction.Sql(options.Value.Schema));

    // Not "if not exists", which asks for the right to make tables even where there is nothing to make: a backend's role need
    // not have it.
    private static string Missing(string table, string columns) =>
        $"do $do$ begin if to_regclass('{table}') is null then create table {table} ({columns}); end if; end $do$;";
}
