using System.Globalization;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.LocalStack.Processes;
using Billing.Operator.Store;

namespace Billing.LocalStack.Postgres;

/// <summary>The databases of an event store that has several, each with a server of its own.</summary>
public static class FurtherDatabases
{
    /// <summary>The names of databases, in order: the settings of the services know them by these.</summary>
    /// <param name="connectionStrings">The connection string of each.</param>
    public static IReadOnlyDictionary<string, string> Names(IReadOnlyList<string> connectionStrings) =>
        connectionStrings
            .Select((connection, place) =>
                (Name: string.Create(CultureInfo.InvariantCulture, $"database{place + 1:00}"), Connection: connection))
            .ToDictionary(database => database.Name, database => database.Connection, StringComparer.Ordinal);

    // All shards of a new event store are in its first database.
    private static async Task SpreadAsync(
        IReadOnlyDictionary<string, string> databases, CancellationToken cancellationToken)
    {
        if (databases.Count == 1)
        {
            return;
        }
        await using var services = StoreServices.Of(databases);
        await services.EnsureEventStoreAsync(cancellationToken);
        for (var shard = 0; shard < Shard.Count; shard++)
        {
            await services.MoveShardAsync(
                shard, databases.Keys.Order(StringComparer.Ordinal).ElementAt(shard % databases.Count),
                _ => { }, cancellationToken);
        }
    }

    internal static async Task<IReadOnlyList<LocalPostgres>> StartAsync(
        string first, int count, bool detached, StackFolder folder, FreePorts ports, IProgress<string> progress,
        ServerCertificate? certificate, CancellationToken cancellationToken)
    {
        var started = new List<LocalPostgres>();
        for (var number = 2; number <= count; number++)
        {
            started.Add(await LocalPostgres.StartNewAsync(
                folder, ports, detached, progress, certificate,
                name: string.Create(CultureInfo.InvariantCulture, $"postgres-{number:00}"),
                cancellationToken: cancellationToken));
        }
        await SpreadAsync(Names([first, .. started.Select(database => database.ConnectionString)]), cancellationToken);
        return started;
    }
}
