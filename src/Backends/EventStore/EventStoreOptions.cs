using System.ComponentModel.DataAnnotations;
using System.Data.Common;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>Where the events are; section <c>Billing:EventStore</c>.</summary>
public sealed class EventStoreOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:EventStore";

    // A transaction whose end was lost while the database failed would keep its locks, and the batch that is tried again would
    // wait for them for ever: ten seconds are far above any pause between two statements, and below how long a caller waits.
    // Rows are looked up by their keys: what is prepared while a new store's tables are empty would go on to read whole tables
    // when they no longer are.
    private const string SessionSettings =
        "-c idle_in_transaction_session_timeout=10s -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off";

    // A turn runs the same few statements every time.
    private const int PreparedStatements = 50;
    private const int UsesBeforePrepared = 2;

    /// <summary>PostgreSQL, in Npgsql's form, e.g. <c>Host=localhost;Database=billing;Username=billing</c>. A
    /// <c>Timezone</c> in it is not heeded: sessions are always in UTC, since Marten stores the database's time of an event
    /// as a time without a zone, which is now only there.</summary>
    [Required(ErrorMessage = "Billing:EventStore:ConnectionString is missing; give PostgreSQL's, e.g. Host=localhost;Database=billing;Username=billing.")]
    public string ConnectionString { get; set; } = "";

    /// <summary>The schema that holds every table of the event store.</summary>
    [RegularExpression("[a-z_][a-z0-9_]{0,62}", ErrorMessage = "Billing:EventStore:Schema must be a lower-case PostgreSQL name.")]
    public string Schema { get; set; } = "billing";

    /// <summary>How long to wait for PostgreSQL at start.</summary>
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>Versions between two stored snapshots of an account: what has to be read to know an account is at most
    /// this many events. A snapshot in every batch would cost a row written for each payment.</summary>
    [Range(1, 100_000, ErrorMessage = "Billing:EventStore:SnapshotEvery must be within 1 and 100000.")]
    public int SnapshotEvery { get; set; } = 100;

    /// <summary><see cref="ConnectionString"/> as the services use it: in UTC, with settings for sessions, with statements kept
    /// prepared, and without a reset between two uses, since nothing of ours leaves anything behind in a session. What the
    /// connection string itself says of these stays: behind a pooler that knows no prepared statements, it says
    /// <c>Max Auto Prepare=0</c>.</summary>
    internal string SessionConnectionString
    {
        get
        {
            var sessions = Sessions();
            var given = KeywordsGiven();
            sessions.Options = $"{SessionSettings} {sessions.Options}".TrimEnd();
            sessions.NoResetOnClose |= !given.Contains("noresetonclose");
            if (!given.Contains("maxautoprepare"))
            {
                sessions.MaxAutoPrepare = PreparedStatements;
                sessions.AutoPrepareMinUsages = UsesBeforePrepared;
            }
            return sessions.ConnectionString;
        }
    }

    /// <summary>The same, for a connection that is not to count among those of the pool.</summary>
    internal string UnpooledConnectionString
    {
        get
        {
            var sessions = Sessions();
            sessions.Pooling = false;
            return sessions.ConnectionString;
        }
    }

    // Npgsql's builder knows every keyword, given or not.
    private HashSet<string> KeywordsGiven() =>
    [
        .. new DbConnectionStringBuilder { ConnectionString = ConnectionString }.Keys.Cast<string>()
            .Select(keyword => keyword.Replace(" ", "", StringComparison.Ordinal).ToLowerInvariant()),
    ];

    private NpgsqlConnectionStringBuilder Sessions() => new(ConnectionString) { Timezone = "UTC" };
}
