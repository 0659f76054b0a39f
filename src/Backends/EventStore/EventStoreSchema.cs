using Billing.Messaging.Hosting;
using Marten;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>Makes the tables: Marten's own, and two beside them. Receipts hold, for each transaction id, the event that
/// answered it; snapshots hold accounts as of some version, so that a long stream need not be read from its start.
/// </summary>
public sealed class EventStoreSchema(IDocumentStore store, NpgsqlDataSource database, IOptions<EventStoreOptions> options, TimeProvider time)
{
    // Any constant will do; services that start together take turns on it.
    private const long SchemaLock = 0x42494C4C;

    /// <summary>The table of receipts.</summary>
    public static string Receipts(string schema) => schema + ".payment_receipts";

    /// <summary>The table of snapshots.</summary>
    public static string Snapshots(string schema) => schema + ".account_snapshots";

    /// <summary>Makes what is missing.</summary>
    /// <exception cref="StartupException">PostgreSQL cannot be reached, or refuses.</exception>
    public async Task EnsureAsync(CancellationToken cancellationToken)
    {
        await WaitForDatabaseAsync(cancellationToken);
        try
        {
            await store.Storage.ApplyAllConfiguredChangesToDatabaseAsync();
            await using var connection = await database.OpenConnectionAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await using var command = new NpgsqlCommand(Sql(), connection, transaction);
            await command.ExecuteNonQueryAsync(cancellationToken);
            await transaction.CommitAsync(cancellationToken);
        }
        catch (Exception e) when (e.GetBaseException() is NpgsqlException)
        {
            throw new StartupException(
                $"Billing:EventStore: the tables could not be made in the schema '{options.Value.Schema}': {e.Message}", e);
        }
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

    private string Sql() => $"""
        select pg_advisory_xact_lock({SchemaLock});
        create table if not exists {Receipts(options.Value.Schema)} (
            transaction_id uuid primary key,
            event bytea not null
        );
        create table if not exists {Snapshots(options.Value.Schema)} (
            stream_id varchar primary key,
            version bigint not null,
            balance numeric not null,
            credit_limit numeric not null,
            currency varchar
        );
        """;
}
