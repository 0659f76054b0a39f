using System.ComponentModel.DataAnnotations;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>Where the events are; section <c>Billing:EventStore</c>.</summary>
public sealed class EventStoreOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:EventStore";

    // Far above any pause between two statements of a transaction, and below how long a caller waits.
    private const int IdleInTransactionMs = 10_000;

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

    /// <summary><see cref="ConnectionString"/> as the services use it: in UTC, and with a bound on how long a transaction may be
    /// forgotten. One whose end was lost while the database failed would keep its locks, and the batch that is tried again would
    /// wait for them for ever.</summary>
    internal string SessionConnectionString
    {
        get
        {
            var sessions = Sessions();
            sessions.Options = $"-c idle_in_transaction_session_timeout={IdleInTransactionMs} {sessions.Options}".TrimEnd();
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

    private NpgsqlConnectionStringBuilder Sessions() => new(ConnectionString) { Timezone = "UTC" };
}
