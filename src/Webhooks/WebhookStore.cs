using Billing.Hosting;
using Microsoft.Extensions.Options;
using Npgsql;
using NpgsqlTypes;

namespace Billing.Webhooks;

/// <summary>What is not delivered yet, in PostgreSQL. All times are the database's, so that the clocks of several
/// services need not agree. Thread-safe.</summary>
/// <param name="options">The database.</param>
internal sealed class WebhookStore(IOptions<WebhookOptions> options) : IPendingEvents, IAsyncDisposable
{
    // How long a session waits for a lock.
    private static readonly TimeSpan Lock = TimeSpan.FromSeconds(5);

    /// <summary>What this time must keep to.</summary>
    public static IReadOnlyList<Rule> Rules { get; } =
    [
        Rule.AtMost(
            Quantity.Of("the wait for a lock of the webhooks", Lock),
            Quantity.Of("the recording of the last deliveries", ReceiverDeliveries.EndMax),
            "a stop that cannot get a lock says so"),
    ];

    // A service that is lost must not keep its locks, and rows are looked up by their keys, also by plans made while
    // the tables are empty.
    private static readonly string SessionSettings =
        $"-c lock_timeout={Lock.TotalSeconds}s -c idle_in_transaction_session_timeout=10s "
        + "-c tcp_keepalives_idle=4 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 "
        + "-c tcp_user_timeout=10s -c synchronous_commit=on -c enable_seqscan=off -c enable_hashjoin=off -c "
        + "enable_mergejoin=off";

    // Of one account with many events, how many are read at once.
    private const int EventsMax = 20;

    // Of those, how many characters: events that begin behind them are left for the next time.
    private const int BodiesMax = 32 * 1024;

    /// <summary>What the events of an account that is delivered to take, in bytes: two bytes a character, and the last
    /// event is longer by that of the longest notes, every character of which JSON escapes.</summary>
    internal const int AccountBytes = (2 * BodiesMax) + (64 * 1024);

    private readonly NpgsqlDataSource _database = NpgsqlDataSource.Create(Sessions(options.Value.ConnectionString));
    private readonly string _schema = options.Value.Schema;
    private volatile bool _exists;

    private string Pending => WebhookTables.Pending(_schema);

    private string Accounts => WebhookTables.Accounts(_schema);

    /// <inheritdoc/>
    public async Task EnsureAsync(CancellationToken cancellationToken)
    {
        if (!_exists)
        {
            await using var command = _database.CreateCommand(WebhookTables.Sql(_schema));
            await command.ExecuteNonQueryAsync(cancellationToken);
            _exists = true;
        }
    }

    /// <inheritdoc/>
    public async Task AddAsync(IReadOnlyList<PendingEvent> events, CancellationToken cancellationToken)
    {
        await EnsureAsync(cancellationToken);
        // An account's row is updated even if nothing in it changes: this waits for a delivery that is about to delete
        // it because nothing was pending. Sorted, so that two services that lock many rows do not wait for each other.
        await using var command = _database.CreateCommand($"""
            with added as (
                insert into {Pending} (receiver, stream_id, incarnation, version, id, body)
                select * from unnest($1, $2, $3, $4, $5, $6) as e(receiver, stream_id, incarnation, version, id, body)
                    order by 1, 2, 3, 4, 5
                on conflict do nothing returning receiver, stream_id)
            insert into {Accounts} as a (receiver, stream_id, due_at)
            select distinct receiver, stream_id, now() from added order by 1, 2
            on conflict (receiver, stream_id) do update set due_at = a.due_at
            """);
        command.Parameters.AddWithValue(events.Select(e => e.Receiver).ToArray());
        command.Parameters.AddWithValue(events.Select(e => e.StreamId).ToArray());
        command.Parameters.AddWithValue(events.Select(e => e.Id.Incarnation).ToArray());
        command.Parameters.AddWithValue(events.Select(e => e.Id.Version).ToArray());
        command.Parameters.AddWithValue(events.Select(e => e.Id.Id).ToArray());
        command.Parameters.AddWithValue(events.Select(e => e.Body).ToArray());
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public async Task<List<ClaimedAccount>> ClaimAsync(
        string receiver, Guid claim, TimeSpan lease, int limit, CancellationToken cancellationToken)
    {
        await using var command = _database.CreateCommand($"""
            with overdue as (
                update {Accounts} set due_at = now() where receiver = $1 and due_at > now() + $5),
            due as (
                select stream_id from {Accounts} where receiver = $1 and due_at <= now() order by due_at limit $2
                    for update skip locked),
            claimed as (
                update {Accounts} a set claim = $3, due_at = now() + $4 from due
                where a.receiver = $1 and a.stream_id = due.stream_id returning a.stream_id, a.failures)
            select c.stream_id, c.failures, p.incarnation, p.version, p.id, p.body
            from claimed c left join lateral (
                select *, coalesce(sum(length(body)) over (order by incarnation, version, id
                    rows between unbounded preceding and 1 preceding), 0) as before
                from (select incarnation, version, id, body from {Pending} p where p.receiver = $1
                    and p.stream_id = c.stream_id
                    order by incarnation, version, id limit {EventsMax}) few) p on p.before < {BodiesMax}
            order by c.stream_id, p.incarnation, p.version, p.id
            """);
        command.Parameters.AddWithValue(receiver);
        command.Parameters.AddWithValue(limit);
        command.Parameters.AddWithValue(claim);
        command.Parameters.AddWithValue(lease);
        // Nothing waits for longer, unless the database's clock was ahead when it was said.
        var longest = RetrySchedule.Longest(options.Value);
        command.Parameters.AddWithValue(longest > lease ? longest : lease);
        var claimed = new List<ClaimedAccount>();
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            var streamId = rows.GetString(0);
            if (claimed.Count == 0 || claimed[^1].StreamId != streamId)
            {
                claimed.Add(new ClaimedAccount(streamId, rows.GetInt32(1), []));
            }
            if (!rows.IsDBNull(2))
            {
                claimed[^1].Events
                    .Add((new PendingId(rows.GetInt64(2), rows.GetInt64(3), rows.GetGuid(4)), rows.GetString(5)));
            }
        }
        return claimed;
    }

    /// <inheritdoc/>
    public async Task<List<string>> SettleAsync(
        string receiver, Guid claim, IReadOnlyList<DeliveryOutcome> outcomes, CancellationToken cancellationToken)
    {
        await using var connection = await _database.OpenConnectionAsync(cancellationToken);
        await using var batch = new NpgsqlBatch(connection);
        var streams = outcomes.Select(outcome => outcome.StreamId).ToArray();
        // Each statement sees what was committed before it: with the rows locked, no event can be added unseen before
        // they are deleted.
        AddStatement(
            $"select from {Accounts} where receiver = $1 and claim = $2 and stream_id = any($3) order by "
                + "stream_id for update", claim, streams);
        AddStatement(
            $"""
            delete from {Pending} p using unnest($2, $3, $4, $5) as d(stream_id, incarnation, version, id)
            where p.receiver = $1 and p.stream_id = d.stream_id and p.incarnation = d.incarnation
                and p.version = d.version and p.id = d.id
            """,
            outcomes.SelectMany(outcome => outcome.Delivered.Select(_ => outcome.StreamId)).ToArray(),
            outcomes.SelectMany(outcome => outcome.Delivered.Select(id => id.Incarnation)).ToArray(),
            outcomes.SelectMany(outcome => outcome.Delivered.Select(id => id.Version)).ToArray(),
            outcomes.SelectMany(outcome => outcome.Delivered.Select(id => id.Id)).ToArray());
        AddStatement(
            $"""
            delete from {Accounts} a using unnest($3) as o(stream_id) where a.receiver = $1 and a.claim = $2
                and a.stream_id = o.stream_id
            and not exists (select from {Pending} p where p.receiver = $1 and p.stream_id = o.stream_id)
            """,
            claim, streams);
        AddStatement(
            $"""
            update {Accounts} a set claim = null, failure = o.failure,
                failures = case when o.failure is null then 0 when o.progress then 1 else a.failures + 1 end,
                failing_since = case when o.failure is null then null when o.progress then now()
                    else coalesce(a.failing_since, now()) end,
                due_at = case when o.failure is null then now()
                    when o.gone or (not o.progress and now() - a.failing_since >= $8) then null
                    else now() + o.wait end
            from unnest($3, $4, $5, $6, $7) as o(stream_id, progress, failure, wait, gone)
            where a.receiver = $1 and a.claim = $2 and a.stream_id = o.stream_id
            returning case when a.due_at is null then a.stream_id end
            """,
            claim, streams, outcomes.Select(outcome => outcome.Delivered.Count > 0).ToArray(),
            outcomes.Select(outcome => outcome.Failure?.Text).ToArray(),
            outcomes.Select(outcome => outcome.Retry).ToArray(),
            outcomes.Select(outcome => outcome.Failure?.IsGone == true).ToArray(), options.Value.RetryFor);
        var parked = new List<string>();
        await using var rows = await batch.ExecuteReaderAsync(cancellationToken);
        do
        {
            while (rows.FieldCount > 0 && await rows.ReadAsync(cancellationToken))
            {
                if (!rows.IsDBNull(0))
                {
                    parked.Add(rows.GetString(0));
                }
            }
        }
        while (await rows.NextResultAsync(cancellationToken));
        return parked;

        void AddStatement(string sql, params object[] values)
        {
            var statement = new NpgsqlBatchCommand(sql);
            statement.Parameters.AddWithValue(receiver);
            Array.ForEach(values, value => statement.Parameters.AddWithValue(value));
            batch.BatchCommands.Add(statement);
        }
    }

    /// <inheritdoc/>
    public async Task<IReadOnlyList<ReceiverState>> StatesAsync(CancellationToken cancellationToken)
    {
        await EnsureAsync(cancellationToken);
        await using var command = _database.CreateCommand($"""
            select p.receiver, p.pending, now() - p.oldest, (select count(*) from {Accounts} a
                where a.receiver = p.receiver and a.due_at is null)
            from (select receiver, count(*) as pending, min(arrived_at) as oldest from {Pending} group by receiver) p
                order by 1
            """);
        var states = new List<ReceiverState>();
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            states.Add(new ReceiverState(rows.GetString(0), rows.GetInt64(1), rows.GetTimeSpan(2), rows.GetInt64(3)));
        }
        return states;
    }

    /// <summary>The accounts whose next event has failed, parked ones first.</summary>
    /// <param name="receiver">Of this receiver; of all if null.</param>
    /// <param name="limit">The most accounts.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async Task<IReadOnlyList<FailingAccount>> FailingAsync(
        string? receiver, int limit, CancellationToken cancellationToken)
    {
        await EnsureAsync(cancellationToken);
        await using var command = _database.CreateCommand($"""
            select a.receiver, a.stream_id, (select count(*) from {Pending} p where p.receiver = a.receiver
                and p.stream_id = a.stream_id),
                a.failures, now() - a.failing_since, a.due_at - now(), a.failure
            from {Accounts} a where a.failure is not null and ($1 is null or a.receiver = $1)
            order by a.due_at is not null, a.failing_since limit $2
            """);
        command.Parameters.Add(
            new NpgsqlParameter { Value = receiver ?? (object)DBNull.Value, NpgsqlDbType = NpgsqlDbType.Varchar });
        command.Parameters.AddWithValue(limit);
        var accounts = new List<FailingAccount>();
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            accounts.Add(new FailingAccount(
                rows.GetString(0), rows.GetString(1), rows.GetInt64(2), rows.GetInt32(3), rows.GetTimeSpan(4),
                rows.IsDBNull(5) ? null : rows.GetTimeSpan(5), rows.GetString(6)));
        }
        return accounts;
    }

    /// <summary>Has the events of failing accounts sent again now, parked ones included, with all
    /// attempts before them.</summary>
    /// <param name="receiver">The receiver.</param>
    /// <param name="streamId">The account's stream; all if null.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>The number of accounts.</returns>
    public async Task<int> ReplayAsync(string receiver, string? streamId, CancellationToken cancellationToken)
    {
        await EnsureAsync(cancellationToken);
        await using var command = Chosen($"""
            update {Accounts} set due_at = now(), failures = 0, failing_since = null, failure = null
            where receiver = $1 and ($2 is null or stream_id = $2) and claim is null and failure is not null
            """, receiver, streamId);
        return await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Gives up the events that wait for a receiver: they are never sent.</summary>
    /// <param name="receiver">The receiver.</param>
    /// <param name="streamId">The account's stream; all if null.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>The number of events.</returns>
    public async Task<int> DropAsync(string receiver, string? streamId, CancellationToken cancellationToken)
    {
        await EnsureAsync(cancellationToken);
        // An account's row is left to its next delivery, which finds nothing to send and deletes it.
        await using var command = Chosen($"""
            with woken as (update {Accounts} set due_at = now(), failure = null, failing_since = null, failures = 0
                where receiver = $1 and ($2 is null or stream_id = $2) and claim is null)
            delete from {Pending} where receiver = $1 and ($2 is null or stream_id = $2)
            """, receiver, streamId);
        return await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Closes the connections.</summary>
    public ValueTask DisposeAsync() => _database.DisposeAsync();

    private NpgsqlCommand Chosen(string sql, string receiver, string? streamId)
    {
        var command = _database.CreateCommand(sql);
        // As many rows as there are.
        command.CommandTimeout = 0;
        command.Parameters.AddWithValue(receiver);
        command.Parameters.Add(
            new NpgsqlParameter { Value = streamId ?? (object)DBNull.Value, NpgsqlDbType = NpgsqlDbType.Varchar });
        return command;
    }

    private static string Sessions(string connectionString)
    {
        var sessions = new NpgsqlConnectionStringBuilder(connectionString) { Timezone = "UTC" };
        sessions.Options = $"{SessionSettings} {sessions.Options}".TrimEnd();
        if (sessions.Host?.Contains(',', StringComparison.Ordinal) == true)
        {
            sessions.TargetSessionAttributes = "primary";
        }
        return sessions.ConnectionString;
    }
}
