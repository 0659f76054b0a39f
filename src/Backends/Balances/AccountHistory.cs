using System.Data;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Backends.Balances;

/// <summary>An account after one of its events.</summary>
/// <param name="Account">The account; its version is the event's, or 0 before all events.
/// Null if it has not reached the version.</param>
/// <param name="DecidedAt">When the event was decided; null before all events.</param>
/// <param name="End">The account's last version, if it has not reached the one that was asked for.</param>
internal readonly record struct PastAccount(Account? Account, DateTimeOffset? DecidedAt = null, long End = 0);

/// <summary>Versions of an account.</summary>
/// <param name="After">The one before the first of them.</param>
/// <param name="Last">The last of them.</param>
/// <param name="End">The account's last version.</param>
internal readonly record struct VersionRange(long After, long Last, long End);

/// <summary>Reads accounts as they were.</summary>
internal interface IAccountHistory
{
    /// <summary>Reads an account as of a version.</summary>
    Task<PastAccount> AtAsync(string streamId, long version, CancellationToken cancellationToken);

    /// <summary>Reads an account as of a time.</summary>
    Task<PastAccount> AtAsync(string streamId, DateTimeOffset time, CancellationToken cancellationToken);
}

/// <summary>Reads accounts as they were from Marten's tables: from the event of that version, and the last one
/// up to it that has set the credit limit. Versions are found by time without an index on it, by halving: the
/// events of an account are in the order of their times, but for the differences between the clocks of the
/// backends that decided them.</summary>
/// <param name="primary">The primary of the database.</param>
/// <param name="schema">Its schema.</param>
/// <param name="opened">The state of an account without events.</param>
internal sealed class AccountHistory(NpgsqlDataSource primary, string schema, Account opened) : IAccountHistory
{
    /// <summary>The SQL of the time when an event was decided, which rounds it to whole microseconds.</summary>
    public const string DecidedAt = $"(data ->> '{nameof(AccountEvent.DecidedAt)}')::timestamptz";

    /// <summary>What rounds away.</summary>
    public static readonly TimeSpan Rounding = TimeSpan.FromMicroseconds(1);

    private readonly string _streams = schema + ".mt_streams";
    private readonly string _events = schema + ".mt_events";

    /// <inheritdoc/>
    public async Task<PastAccount> AtAsync(string streamId, long version, CancellationToken cancellationToken)
    {
        if (version == 0)
        {
            return new PastAccount(opened);
        }
        await using var command = primary.CreateCommand($"""
            select s.version, e.type, e.data, c.type, c.data
            from {_streams} s
            left join {_events} e on e.stream_id = s.id and e.version = $2
            left join lateral (
                select type, data from {_events}
                where stream_id = s.id and version <= $2 and {AccountStore.SetsCreditLimit} order by version desc
                    limit 1) c on true
            where s.id = $1
            """);
        command.Parameters.Add(Text(streamId));
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = version });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        var end = await rows.ReadAsync(cancellationToken) ? rows.GetInt64(0) : 0;
        if (end < version)
        {
            return new PastAccount(null, End: end);
        }
        if (await rows.IsDBNullAsync(1, cancellationToken))
        {
            throw new InvalidDataException($"{streamId} has no event of version {version}.");
        }
        var fact = EventTypes.Read(rows.GetString(1), rows.GetFieldValue<byte[]>(2));
        decimal? limit = await rows.IsDBNullAsync(3, cancellationToken)
            ? null
            : EventTypes.ReadLimit(rows.GetString(3), rows.GetFieldValue<byte[]>(4));
        return new PastAccount(fact.Stated(version, limit, opened), fact.DecidedAt);
    }

    /// <inheritdoc/>
    public async Task<PastAccount> AtAsync(string streamId, DateTimeOffset time, CancellationToken cancellationToken)
    {
        var near = await NearAsync(streamId, time, time, cancellationToken);
        var version = near.After;
        await using (var command = primary.CreateCommand($"""
            select version, type, data from {_events}
            where stream_id = $1 and version > $2 and version <= $3 and {DecidedAt} <= $4 order by version desc
            """))
        {
            command.Parameters.Add(Text(streamId));
            command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = near.After });
            command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = near.Last });
            command.Parameters.Add(Time(Shifted(time, Rounding)));
            await using var rows = await command.ExecuteReaderAsync(
                CommandBehavior.SequentialAccess, cancellationToken);
            while (version == near.After && await rows.ReadAsync(cancellationToken))
            {
                var number = rows.GetInt64(0);
                if (EventTypes.Read(rows.GetString(1), rows.GetFieldValue<byte[]>(2)).DecidedAt <= time)
                {
                    version = number;
                }
            }
        }
        return await AtAsync(streamId, version, cancellationToken);
    }

    /// <summary>Finds versions among which are all events that were decided in a range of
    /// time, and few others.</summary>
    /// <param name="streamId">The account.</param>
    /// <param name="from">The first moment of the range.</param>
    /// <param name="before">The moment at which it is over.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<VersionRange> NearAsync(
        string streamId, DateTimeOffset from, DateTimeOffset before, CancellationToken cancellationToken)
    {
        await using var command = primary.CreateCommand($"""
            with recursive halves(number, at, low, high, last) as (
                select wanted.number, wanted.at, 0::bigint, s.version, s.version
                from {_streams} s cross join unnest($2) with ordinality as wanted(at, number) where s.id = $1
                union all
                select h.number, h.at,
                    case when e.at <= h.at or e.at is null then (h.low + h.high + 1) / 2 else h.low end,
                    case when e.at <= h.at or e.at is null then h.high else e.version - 1 end,
                    h.last
                from halves h left join lateral (
                    select version, {DecidedAt} as at from {_events}
                    where stream_id = $1 and version <= (h.low + h.high + 1) / 2 and version > h.low
                        order by version desc limit 1) e on true
                where h.low < h.high)
            select low, last from halves where low = high order by number
            """);
        command.Parameters.Add(Text(streamId));
        command.Parameters.Add(new NpgsqlParameter<DateTime[]>
        {
            TypedValue = [Shifted(from, -StoreTimes.EventTimes), Shifted(before, StoreTimes.EventTimes)],
            NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.TimestampTz,
        });
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        if (!await rows.ReadAsync(cancellationToken))
        {
            return default;
        }
        var after = rows.GetInt64(0);
        await rows.ReadAsync(cancellationToken);
        return new VersionRange(after, rows.GetInt64(0), rows.GetInt64(1));
    }

    /// <summary>A time for a statement, that much later, but no later or earlier than there are times.</summary>
    public static DateTime Shifted(DateTimeOffset time, TimeSpan by) =>
        new(Math.Clamp(time.UtcTicks + by.Ticks, DateTime.MinValue.Ticks, DateTime.MaxValue.Ticks), DateTimeKind.Utc);

    /// <summary>A time as the parameter of a statement.</summary>
    public static NpgsqlParameter<DateTime> Time(DateTime time) =>
        new() { TypedValue = time, NpgsqlDbType = NpgsqlDbType.TimestampTz };

    /// <summary>A stream's id as the parameter of a statement.</summary>
    public static NpgsqlParameter<string> Text(string text) =>
        new() { TypedValue = text, NpgsqlDbType = NpgsqlDbType.Varchar };
}
