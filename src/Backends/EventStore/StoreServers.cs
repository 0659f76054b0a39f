using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>The servers of a database: one, or several of which one is the primary. Npgsql's own search for the primary
/// asks the servers one after the other, and asks a silent one again for each connection: only <see cref="ForSchema"/>
/// and <see cref="Unpooled"/> use it.</summary>
public sealed class StoreServers : IAsyncDisposable
{
    private static readonly TimeSpan AskingInterval = TimeSpan.FromMilliseconds(250);

    // While something waits for a server that may hang, the others are asked once, and from time to time: a machine
    // that is only busy would be the busier.
    private static readonly TimeSpan HangingStill = TimeSpan.FromSeconds(2);

    private readonly Server[] _servers;
    private readonly NpgsqlMultiHostDataSource? _several;
    private readonly Lock _gate = new();
    private volatile NpgsqlDataSource _primary;
    private Task _looking = Task.CompletedTask;
    private string? _timeline;

    /// <summary>Reads the servers from the connection string; connects to none yet.</summary>
    public StoreServers(IOptions<EventStoreOptions> options)
    {
        var former = options.Value.FormerPassword;
        _servers =
        [
            .. options.Value.ServerConnectionStrings.Select(server => new Server(
                Sessions(server, former, isOneOfSeveral: options.Value.HasSeveralServers).Build(),
                SessionSource.Builder(
                    new NpgsqlConnectionStringBuilder(server) { Pooling = false }.ConnectionString, former).Build())),
        ];
        _primary = _servers[0].Sessions;
        Unpooled = SessionSource.Builder(options.Value.UnpooledConnectionString, former).Build();
        if (_servers.Length > 1)
        {
            _several = SessionSource.Builder(options.Value.SessionConnectionString, former).BuildMultiHost();
        }
    }

    /// <summary>Connections outside the pools, in UTC: to whatever server is the primary.</summary>
    internal NpgsqlDataSource Unpooled { get; }

    /// <summary>Connections for Marten, which keeps them for good: to whatever server is the primary.</summary>
    internal NpgsqlDataSource ForSchema => _several?.WithTargetSession(TargetSessionAttributes.Primary) ?? _primary;

    /// <summary>Whether there are several.</summary>
    internal bool AreSeveral => _several is not null;

    /// <summary>Asks all of several servers at once which one is the primary, for at most
    /// <see cref="StoreTimes.PrimaryLook"/>.</summary>
    public Task LookForPrimaryAsync(CancellationToken cancellationToken) =>
        _several is null ? Task.CompletedTask : LookAsync(onlyElsewhere: false, cancellationToken);

    /// <summary>Uses the database: there is no other way to its primary as it was last found, or to the first server
    /// before that. With several servers it fails if it takes long and another server has become the primary meanwhile,
    /// and the primary is looked for before a failure of the database is passed on.</summary>
    /// <exception cref="NpgsqlException">Another server is the primary now; whether something was
    /// committed is unknown.</exception>
    public Task<T> UseAsync<T>(
        Func<NpgsqlDataSource, CancellationToken, Task<T>> use, CancellationToken cancellationToken) =>
        _several is null ? use(_primary, cancellationToken) : UseOneOfSeveralAsync(use, cancellationToken);

    /// <summary>Closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var server in _servers)
        {
            await server.Sessions.DisposeAsync();
            await server.Unpooled.DisposeAsync();
        }
        await Unpooled.DisposeAsync();
        if (_several is not null)
        {
            await _several.DisposeAsync();
        }
    }

    private async Task<T> UseOneOfSeveralAsync<T>(
        Func<NpgsqlDataSource, CancellationToken, Task<T>> use, CancellationToken cancellationToken)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var primary = _primary;
        var underWay = use(primary, either.Token);
        try
        {
            for (var patience = StoreTimes.Hanging; !await HasEndedAsync(underWay, patience); patience = HangingStill)
            {
                if (primary == _primary)
                {
                    await LookAsync(onlyElsewhere: true, cancellationToken)
                        .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                }
                if (primary != _primary)
                {
                    // Npgsql asks the server that hangs to cancel, and waits for that as long as for a connection:
                    // on a thread of its own.
                    await Task.Factory.StartNew(
                        either.Cancel, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
                }
            }
            return await underWay;
        }
        catch (OperationCanceledException e) when (!cancellationToken.IsCancellationRequested)
        {
            throw new NpgsqlException("Another server has become the primary.", e);
        }
        catch (Exception e) when (EventStoreFailure.IsUnavailable(e))
        {
            await LookForPrimaryAsync(cancellationToken);
            throw;
        }

        static async Task<bool> HasEndedAsync(Task work, TimeSpan patience)
        {
            await work.WaitAsync(patience, CancellationToken.None)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return work.IsCompleted;
        }
    }

    // Those who look at the same time share what is found.
    private Task LookAsync(bool onlyElsewhere, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_looking.IsCompleted)
            {
                _looking = LookAsync(onlyElsewhere);
            }
            return _looking.WaitAsync(cancellationToken);
        }
    }

    // A former primary that does not know it yet says that it is one, too: of those that answer at about the same
    // time, the one with the latest timeline is. Where nothing has failed, a server elsewhere must have a later one
    // than the last primary.
    private async Task LookAsync(bool onlyElsewhere)
    {
        using var bound = new CancellationTokenSource(onlyElsewhere ? StoreTimes.Connect : StoreTimes.PrimaryLook);
        var servers = onlyElsewhere ? Array.FindAll(_servers, server => server.Sessions != _primary) : _servers;
        var asked = servers.Select(server => TimelineAsync(server.Unpooled, onlyElsewhere, bound.Token)).ToList();
        if (!onlyElsewhere)
        {
            await Task.WhenAny(asked);
            bound.CancelAfter(AskingInterval);
        }
        var timelines = await Task.WhenAll(asked);
        var latest = timelines.Max(StringComparer.Ordinal);
        if (latest is null || (onlyElsewhere && string.CompareOrdinal(latest, _timeline) <= 0))
        {
            return;
        }
        _timeline = latest;
        var found = servers[Array.IndexOf(timelines, latest)].Sessions;
        if (found != _primary)
        {
            var former = _primary;
            _primary = found;
            former.Clear();
        }
    }

    // The timeline of a server once it is the primary, as the file names of its log begin with it; null if it is not,
    // or did not become it in time. Outside the pool, whose sessions may wait for a machine that is gone.
    private static async Task<string?> TimelineAsync(
        NpgsqlDataSource server, bool once, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await using var session = await server.OpenConnectionAsync(cancellationToken);
                await using var question = new NpgsqlCommand(
                    "select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end",
                    session);
                if (await question.ExecuteScalarAsync(cancellationToken) is string timeline)
                {
                    return timeline;
                }
            }
            catch (NpgsqlException)
            {
                // It may answer, or start, a moment later.
            }
            catch (OperationCanceledException)
            {
                return null;
            }
            if (once || cancellationToken.IsCancellationRequested)
            {
                return null;
            }
            await Task.Delay(AskingInterval, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    // A server of several that has become a standby is not read: it fails, so that the primary is looked for.
    // Sessions that are open then do not outlive the change.
    private static NpgsqlDataSourceBuilder Sessions(string server, string former, bool isOneOfSeveral)
    {
        var builder = SessionSource.Builder(server, former);
        return isOneOfSeveral ? builder.UsePhysicalConnectionInitializer(
            session =>
            {
                using var question = IsStandby(session);
                Refuse(session, question.ExecuteScalar());
            },
            async session =>
            {
                await using var question = IsStandby(session);
                Refuse(session, await question.ExecuteScalarAsync());
            }) : builder;

        static NpgsqlCommand IsStandby(NpgsqlConnection session) => new("select pg_is_in_recovery()", session);

        static void Refuse(NpgsqlConnection session, object? isStandby)
        {
            if (isStandby is true)
            {
                throw new NpgsqlException($"{session.Host}:{session.Port} is a standby at present.");
            }
        }
    }

    private sealed record Server(NpgsqlDataSource Sessions, NpgsqlDataSource Unpooled);
}

/// <summary>Sessions that begin with the password of a connection string or, while the server refuses it,
/// with the former one.</summary>
internal static class SessionSource
{
    /// <summary>Returns what sessions are made with.</summary>
    /// <param name="connectionString">The servers and the present password.</param>
    /// <param name="former">The password that it replaces; empty for none.</param>
    public static NpgsqlDataSourceBuilder Builder(string connectionString, string former)
    {
        var builder = new NpgsqlDataSourceBuilder(connectionString);
        if (former.Length == 0)
        {
            return builder;
        }
        var present = builder.ConnectionStringBuilder.Password;
        builder.ConnectionStringBuilder.Password = null;
        var isAccepted = false;
        return builder.UsePasswordProvider(
            server => PasswordAsync(server, CancellationToken.None).AsTask().GetAwaiter().GetResult(), PasswordAsync);

        // Whoever opens a session has one attempt: which password it needs is found out by one of its own.
        async ValueTask<string> PasswordAsync(NpgsqlConnectionStringBuilder server, CancellationToken cancellationToken)
        {
            if (!isAccepted)
            {
                var attempt = new NpgsqlConnectionStringBuilder(
                    server.ConnectionString)
                { Password = present, Pooling = false, TargetSessionAttributes = null };
                try
                {
                    await using var session = new NpgsqlConnection(attempt.ConnectionString);
                    await session.OpenAsync(cancellationToken);
                    isAccepted = true;
                }
                catch (PostgresException e) when (e.SqlState == PostgresErrorCodes.InvalidPassword)
                {
                    return former;
                }
            }
            return present!;
        }
    }
}
