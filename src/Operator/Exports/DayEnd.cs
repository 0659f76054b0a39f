using System.Globalization;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Operator.Arguments;
using Npgsql;

namespace Billing.Operator.Exports;

/// <summary>Whether nothing can be added to a day any more. An event belongs to the day on which, by the clock of its
/// database, the transaction began that stored it: a day is complete once it is over by that clock and none of the
/// transactions is open that may have begun on it.</summary>
internal static class DayEnd
{
    // By how much the clock of a server that takes over may be behind, and how long a transaction that has begun
    // may take to show.
    private static readonly TimeSpan Margin = TimeSpan.FromMinutes(1);

    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan OpenMax = TimeSpan.FromSeconds(20);

    /// <summary>The moment at which a day begins.</summary>
    public static DateTime StartOf(DateOnly day) => day.ToDateTime(TimeOnly.MinValue, DateTimeKind.Utc);

    /// <summary>Waits a while for the transactions that may still add to a day.</summary>
    /// <exception cref="CommandException">The day is not over, or such a transaction stays open, or the
    /// database cannot say so.</exception>
    public static Task WaitAsync(EventStoreDatabase database, DateOnly day, CancellationToken cancellationToken) =>
        database.Servers.UseAsync(
            async (primary, token) =>
            {
                await WaitAsync(database, primary, day, token);
                return true;
            },
            cancellationToken);

    private static async Task WaitAsync(
        EventStoreDatabase database, NpgsqlDataSource primary, DateOnly day, CancellationToken cancellationToken)
    {
        var schema = database.Settings.Schema;
        await using (var question = primary.CreateCommand($"""
            select pg_is_in_recovery(), clock_timestamp(),
                to_regclass('{schema}.{EventStoreSchema.EventsByTime}') is not null
            """))
        {
            await using var row = await question.ExecuteReaderAsync(cancellationToken);
            await row.ReadAsync(cancellationToken);
            if (row.GetBoolean(0))
            {
                throw new CommandException(
                    $"--postgres: the database {database.Name} is a standby, which does not know what its primary is "
                    + "about to store; name both, as in 'Host=primary,standby;Target Session "
                    + "Attributes=prefer-standby'.");
            }
            if (row.GetDateTime(1) < StartOf(day.AddDays(1)) + Margin)
            {
                throw new CommandException(string.Create(CultureInfo.InvariantCulture,
                    $"--to: {day:yyyy-MM-dd} is not over; it can be exported from {day.AddDays(1):yyyy-MM-dd} 00:01 "
                        + $"UTC on. At the database {database.Name} it is {row.GetDateTime(1):yyyy-MM-dd HH:mm:ss}."));
            }
            if (!row.GetBoolean(2))
            {
                throw new CommandException(
                    $"--postgres: the database {database.Name} has no event store with the index "
                    + $"{EventStoreSchema.EventsByTime}; a backend or ./billing schema creates it.");
            }
        }
        var start = TimeProvider.System.GetTimestamp();
        var open = await OpenAsync(database, primary, day, cancellationToken);
        while (open.Count > 0)
        {
            if (TimeProvider.System.GetElapsedTime(start) > OpenMax)
            {
                throw new CommandException($"--to: {open.Values.First()}, which may add to {day:yyyy-MM-dd}.");
            }
            await Task.Delay(PollInterval, cancellationToken);
            var still = await OpenAsync(database, primary, day, cancellationToken);
            open = open.Where(transaction => still.ContainsKey(transaction.Key)).ToDictionary();
        }
    }

    // The transactions of roles that may store events, by their virtual ids, which all roles may see. Since when one
    // of another role is open is seen only by members of pg_read_all_stats; for others it counts if it was open when
    // this was asked first.
    private static async Task<Dictionary<string, string>> OpenAsync(
        EventStoreDatabase database, NpgsqlDataSource primary, DateOnly day, CancellationToken cancellationToken)
    {
        await using var select = primary.CreateCommand($"""
            select l.virtualtransaction,
                format('the database {database.Name} has a transaction of the role %s open, process %s, %s',
                a.usename, a.pid, coalesce('since '
                    || date_trunc('second', a.xact_start), 'since when only members of pg_read_all_stats may see'))
            from pg_locks l join pg_stat_activity a on a.pid = l.pid
            where l.locktype = 'virtualxid' and l.granted and a.datname = current_database()
                and a.pid <> pg_backend_pid()
                and has_table_privilege(a.usesysid, '{database.Settings.Schema}.mt_events', 'insert')
                    and coalesce(a.xact_start < $1, true)
            """);
        select.Parameters.AddWithValue(StartOf(day.AddDays(1)));
        var open = new Dictionary<string, string>(StringComparer.Ordinal);
        await using var rows = await select.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            open[rows.GetString(0)] = rows.GetString(1);
        }
        return open;
    }
}
