using System.ComponentModel.DataAnnotations;
using System.Data.Common;
using System.Globalization;
using System.Text.RegularExpressions;
using Billing.Hosting;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>The PostgreSQL database that holds the events; section <c>Billing:EventStore</c>.</summary>
public sealed partial class EventStoreOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:EventStore";

    /// <summary>The name of the database where there is only one.</summary>
    internal const string OnlyDatabase = "billing";

    // A transaction whose client was lost while the database failed would keep its locks, and the retried batch would
    // wait for them forever. One that waits for the rest of a statement is not idle: the server ends it when its
    // client's host no longer answers, after as long. What is acknowledged is on the disk, whatever the role's or the
    // database's settings say. Rows are looked up by their keys: a statement prepared while a new store's tables are
    // empty would otherwise keep scanning whole tables when they no longer are.
    private static readonly string LostClients = string.Create(CultureInfo.InvariantCulture,
        $"-c lock_timeout={Milliseconds(StoreTimes.Lock)} "
        + $"-c tcp_keepalives_idle={StoreTimes.KeepAliveIdle.TotalSeconds} "
        + $"-c tcp_keepalives_interval={StoreTimes.KeepAliveInterval.TotalSeconds} "
        + $"-c tcp_keepalives_count={StoreTimes.KeepAliveCount} "
        + $"-c tcp_user_timeout={Milliseconds(StoreTimes.LostClient)}");

    private static readonly string SessionSettingsOption =
        $"{LostClients} -c synchronous_commit=on "
        + $"-c idle_in_transaction_session_timeout={Milliseconds(StoreTimes.LostClient)} "
        + "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off";

    // A service runs the same few statements again and again.
    private const int PreparedStatements = 50;
    private const int UsesBeforePrepared = 2;

    // A host that is gone while a session waits for its answer owes no acknowledgement: only these questions to its
    // kernel, after so many seconds and again each second, tell that it is gone, by default nine of them
    // (net.ipv4.tcp_keepalive_probes).
    private const int KeepAliveSeconds = 2;

    /// <summary>The connection string of PostgreSQL, in Npgsql's format, e.g.
    /// <c>Host=localhost;Database=billing;Username=billing</c>. <c>Host=one,two:5433</c> names several servers that
    /// replicate, of which the primary is used; <c>Target Session Attributes</c> can only be <c>primary</c> then. A
    /// <c>Timezone</c> in it is ignored: sessions are always in UTC, since Marten stores the database's time of an
    /// event without a time zone.</summary>
    public string ConnectionString { get; set; } = "";

    /// <summary>Several databases instead of one: the connection string of each, by a name that never changes.
    /// Accounts are in the databases by shards, of which each database knows its own: a name may be added at any time,
    /// and removed when its database holds no shard. A name is lower-case letters, digits and underscores, for
    /// environment variables.</summary>
    public IDictionary<string, string> Databases { get; } = new SortedDictionary<string, string>(
        StringComparer.Ordinal);

    /// <summary>The password that those of the connection strings replace, used while a server refuses the new one:
    /// backends may have that before the servers do.</summary>
    public string FormerPassword { get; set; } = "";

    /// <summary>The schema that holds every table of the event store.</summary>
    [RegularExpression("[a-z_][a-z0-9_]{0,62}", ErrorMessage = "must be a lower-case PostgreSQL name.")]
    public string Schema { get; set; } = "billing";

    /// <summary>Whether sessions begin with settings of their own, by the startup parameter <c>options</c>. Some
    /// poolers refuse it, such as PgBouncer before 1.20: without it, give these settings to the role
    /// (<c>alter role ... set</c>), as docs/operations/settings.md says.</summary>
    public bool SessionSettings { get; set; } = true;

    /// <summary>How long to wait at startup until PostgreSQL can be reached; above zero, at most an hour.</summary>
    [TimeRange("00:00:00", "01:00:00", MinimumIsExclusive = true)]
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>A time as a setting of PostgreSQL.</summary>
    internal static string Milliseconds(TimeSpan time) =>
        string.Create(CultureInfo.InvariantCulture, $"{time.TotalMilliseconds}ms");

    /// <summary>The number of databases.</summary>
    internal int DatabasesCount => Math.Max(1, Databases.Count);

    /// <summary>The settings of each database, in the order of their names.</summary>
    internal IEnumerable<(string Name, EventStoreOptions Settings)> Each() => Databases.Count == 0
        ? [(OnlyDatabase, this)]
        : Databases.OrderBy(database => database.Key, StringComparer.Ordinal)
            .Select(database => (database.Key, With(database.Value)));

    /// <summary>One message for each invalid setting or combination of settings, naming it.</summary>
    internal IEnumerable<string> ValidationErrors()
    {
        if (Databases.Count > 0 && ConnectionString.Length > 0)
        {
            yield return "Billing:EventStore:ConnectionString and Billing:EventStore:Databases are both set; "
                + "name the database of the former in the latter.";
        }
        if (Databases.Count == 0 && ConnectionString.Length == 0)
        {
            yield return "Billing:EventStore:ConnectionString is missing; "
                + "set it to PostgreSQL's connection string, e.g. Host=localhost;Database=billing;Username=billing.";
        }
        foreach (var name in Databases.Keys.Where(name => !DatabaseName().IsMatch(name)))
        {
            yield return $"Billing:EventStore:Databases: '{name}' must be a name of lower-case letters, "
                + "digits and underscores, beginning with a letter.";
        }
        foreach (var (setting, connection) in Databases.Select(database =>
            ("Databases:" + database.Key, database.Value)).Append(("ConnectionString", ConnectionString)))
        {
            if (Problem(connection) is { } problem)
            {
                yield return $"Billing:EventStore:{setting}{problem}";
            }
        }
    }

    /// <summary><see cref="ConnectionString"/> as the services use it: in UTC, with session settings, with statements
    /// kept prepared, and without a reset between two uses, since the services leave no state behind in a session.
    /// Values that the connection string itself sets take precedence: behind a pooler that does not support prepared
    /// statements, set <c>Max Auto Prepare=0</c>.</summary>
    internal string SessionConnectionString
    {
        get
        {
            var sessions = Sessions();
            var given = KeywordsGiven();
            AddSettings(sessions, SessionSettingsOption);
            sessions.NoResetOnClose |= !given.Contains("noresetonclose");
            if (HasSeveralServers)
            {
                sessions.Timeout = given.Contains("timeout") ? sessions.Timeout : (int)StoreTimes.Connect.TotalSeconds;
                (sessions.TcpKeepAliveTime, sessions.TcpKeepAliveInterval) =
                    given.Contains("tcpkeepalivetime")
                        ? (sessions.TcpKeepAliveTime, sessions.TcpKeepAliveInterval)
                        : (KeepAliveSeconds, 1);
            }
            if (!given.Contains("maxautoprepare"))
            {
                sessions.MaxAutoPrepare = PreparedStatements;
                sessions.AutoPrepareMinUsages = UsesBeforePrepared;
            }
            return sessions.ConnectionString;
        }
    }

    /// <summary><see cref="SessionConnectionString"/> of each server.</summary>
    internal IEnumerable<string> ServerConnectionStrings
    {
        get
        {
            var sessions =
                new NpgsqlConnectionStringBuilder(SessionConnectionString) { TargetSessionAttributes = null };
            return (sessions.Host ?? "").Split(',', StringSplitOptions.TrimEntries)
                .Select(host =>
                    new NpgsqlConnectionStringBuilder(sessions.ConnectionString) { Host = host }.ConnectionString);
        }
    }

    /// <summary><see cref="ConnectionString"/> in UTC, for a connection outside the pool.</summary>
    internal string UnpooledConnectionString
    {
        get
        {
            var sessions = Sessions();
            AddSettings(sessions, LostClients);
            sessions.Pooling = false;
            return sessions.ConnectionString;
        }
    }

    internal bool HasSeveralServers =>
        new NpgsqlConnectionStringBuilder(ConnectionString).Host?.Contains(',', StringComparison.Ordinal) == true;

    [GeneratedRegex("^[a-z][a-z0-9_]{0,62}$")]
    private static partial Regex DatabaseName();

    private EventStoreOptions With(string connectionString) => new()
    {
        ConnectionString = connectionString,
        FormerPassword = FormerPassword,
        Schema = Schema,
        SessionSettings = SessionSettings,
        StartTimeout = StartTimeout,
    };

    private string? Problem(string connectionString)
    {
        try
        {
            var connection = new NpgsqlConnectionStringBuilder(connectionString);
            return connection.TargetSessionAttributes is { } wanted and not ("primary" or "read-write")
                ? $": Target Session Attributes must be primary; it is {wanted}: backends write."
                : FormerPassword.Length > 0 && connectionString.Length > 0 && string.IsNullOrEmpty(connection.Password)
                    ? " has no Password, which Billing:EventStore:FormerPassword would be the former one of."
                    : null;
        }
        catch (ArgumentException e)
        {
            return $" is not a connection string: {e.Message}";
        }
    }

    private void AddSettings(NpgsqlConnectionStringBuilder sessions, string settings)
    {
        if (SessionSettings)
        {
            sessions.Options = $"{settings} {sessions.Options}".TrimEnd();
        }
    }

    // Npgsql's own builder does not tell which keywords were given.
    private HashSet<string> KeywordsGiven() =>
    [
        .. new DbConnectionStringBuilder { ConnectionString = ConnectionString }.Keys.Cast<string>()
            .Select(keyword => keyword.Replace(" ", "", StringComparison.Ordinal).ToLowerInvariant()),
    ];

    // A commit whose wait for the standby is cancelled is committed on one disk only, and the server reports success:
    // what is cut short must fail here, whatever the server answers to it.
    private NpgsqlConnectionStringBuilder Sessions() => new(ConnectionString)
    {
        Timezone = "UTC",
        CancellationTimeout = -1,
        TargetSessionAttributes = HasSeveralServers ? "primary" : null,
    };
}
