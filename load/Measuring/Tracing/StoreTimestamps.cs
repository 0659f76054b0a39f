using Billing.Backends.EventStore;
using Billing.Contracts;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Measuring.Tracing;

/// <summary>Reads the event store's own timestamps of the events of a trace.</summary>
internal static class StoreTimestamps
{
    private const int PageSize = 5000;

    /// <summary>Looks up the event of every answered payment by the stream and version in its answer, and stores the
    /// event's timestamp in the payment if the transaction id is the same.</summary>
    public static async Task JoinAsync(
        string connectionString, IReadOnlyList<TracedPayment> payments, CancellationToken cancellationToken)
    {
        await using var database = NpgsqlDataSource.Create(connectionString);
        foreach (var page in payments.Where(p => p.IsAnswered).Chunk(PageSize))
        {
            await JoinPageAsync(database, page, cancellationToken);
        }
    }

    private static async Task JoinPageAsync(
        NpgsqlDataSource database, TracedPayment[] page, CancellationToken cancellationToken)
    {
        var byId = page.ToDictionary(p => p.TransactionId);
        // By stream and version, which are indexed, not by transaction id, which is not.
        await using var command = database.CreateCommand($"""
            select e.data ->> 'TransactionId', e.timestamp
            from unnest($1, $2) as wanted (stream_id, version)
            join {new EventStoreOptions().Schema}.mt_events e on e.stream_id = wanted.stream_id
                and e.version = wanted.version
            """);
        command.Parameters.Add(new NpgsqlParameter
        {
            Value = Array.ConvertAll(page, p => p.StreamId),
            NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Varchar,
        });
        command.Parameters.Add(new NpgsqlParameter
        {
            Value = Array.ConvertAll(page, p => p.Version),
            NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Bigint,
        });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            if (Guid.TryParse(rows.GetString(0), out var id) && byId.TryGetValue(id, out var payment))
            {
                payment[Moment.Recorded] = UnixTime.Microseconds(rows.GetFieldValue<DateTimeOffset>(1));
            }
        }
    }
}
