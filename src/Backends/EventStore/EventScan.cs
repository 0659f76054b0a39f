using System.Data;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

internal readonly record struct StoredEvent(string StreamId, long Version, string Type, byte[] Json);

internal interface IEventScan
{
    /// <summary>The sequence number of the last event, which is about the number of events; zero if there are none.
    /// </summary>
    Task<long> LastAsync(CancellationToken cancellationToken);

    /// <summary>Reads a page, in the order of the sequence numbers, after that of the last event already read, or
    /// <see cref="EventScan.Start"/>. Each event is taken while the page is read.</summary>
    /// <returns>The number of events read and the sequence number of the last.</returns>
    Task<(int Count, long Last)> ReadPageAsync(
        long after, int limit, Action<StoredEvent> take, CancellationToken cancellationToken);
}

/// <summary>Reads the events of all accounts in the order of their sequence numbers, one page at a time, without Marten's
/// tombstones. Because of the pages, no statement (and so no PostgreSQL snapshot) lasts as long as the whole scan, and an
/// interrupted scan continues where it was. An event that is committed late, with a sequence number between a page already read,
/// is missed.</summary>
internal sealed class EventScan(NpgsqlDataSource database, IOptions<EventStoreOptions> options) : IEventScan
{
    public const long Start = long.MinValue;

    private const string NoTombstone = $"stream_id <> '{EventTypes.TombstoneStream}'";

    private readonly string _events = options.Value.Schema + ".mt_events";

    // Some sequence numbers are never used or belong to tombstones, so this may be more than the number of events.
    public async Task<long> LastAsync(CancellationToken cancellationToken)
    {
        await using var command = database.CreateCommand($"select coalesce(max(seq_id), 0) from {_events} where {NoTombstone}");
        return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public async Task<(int Count, long Last)> ReadPageAsync(
        long after, int limit, Action<StoredEvent> take, CancellationToken cancellationToken)
    {
        await using var command = database.CreateCommand(
            $"select seq_id, stream_id, version, type, data from {_events} where seq_id > $1 and {NoTombstone} order by seq_id limit $2");
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = after });
        command.Parameters.Add(new NpgsqlParameter<int> { TypedValue = limit });
        await using var rows = await command.ExecuteReaderAsync(CommandBehavior.SequentialAccess, cancellationToken);
        var (count, last) = (0, after);
        while (await rows.ReadAsync(cancellationToken))
        {
            last = rows.GetInt64(0);
            take(new StoredEvent(rows.GetString(1), rows.GetInt64(2), rows.GetString(3), rows.GetFieldValue<byte[]>(4)));
            count++;
        }
        return (count, last);
    }
}
