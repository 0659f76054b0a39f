using System.Globalization;
using Npgsql;

namespace Billing.Backends.EventStore;

internal static class EventStoreFailure
{
    // The SQLSTATE classes of failures of what is to be stored at the tables: data exceptions, integrity constraint
    // violations, and what triggers raise. Commands that passed the field rules fit the tables as this program makes
    // them, so somebody has changed those: no command is at fault. See PostgreSQL's appendix "Error Codes".
    private static readonly string[] DataClasses = ["22", "23", "P0"];

    // The constraints of Marten's tables.
    private const string OneVersionOfStream = "pk_mt_events_stream_and_version";
    private const string OneSequenceNumber = "pkey_mt_events_seq_id";
    private const string OneStream = "pkey_mt_streams_id";

    // Those of a server that works, and finds damage where it looks: internal errors, among them damaged pages and
    // indexes; and errors of its files.
    private static readonly string[] DamageClasses = ["XX", "58"];

    /// <summary>Whether a retry may succeed, once the caller has looked up what is stored by now.</summary>
    public static bool IsRetryable(Exception failure) =>
        IsOfSomeRows(failure) || ShardsElsewhere(failure) is not null || IsEpochOver(failure)
        || IsSequenceNumberTaken(failure) || IsUnavailable(failure);

    /// <summary>Whether the failure may concern some accounts or transactions only, so that others can be recorded
    /// although it lasts: damaged pages, a stream whose version is not that of its events, an archived stream, events
    /// that only a newer version of the program can read, a constraint that somebody has added.</summary>
    public static bool IsOfSomeRows(Exception failure) =>
        IsConflict(failure) || IsReceiptCollision(failure) || IsArchived(failure) || IsVersionTaken(failure)
        || RefusalOf(failure) is not null
        || failure.GetBaseException() is UnknownEventTypeException || IsOfClass(failure, DamageClasses);

    /// <summary>Why the tables refuse what fits them as this program makes them: a column, constraint, index or trigger
    /// that somebody has added or changed. It may concern all commands or some, and lasts until somebody changes it
    /// again. Null if it failed otherwise.</summary>
    public static string? RefusalOf(Exception failure) =>
        Cause(failure) is PostgresException refusal && IsOfClass(failure, DataClasses) && !IsOurs(refusal)
            ? $"{refusal.SqlState}: {refusal.MessageText}"
            : null;

    /// <summary>Whether an append failed because a stream's version has changed:
    /// another owner appended to it.</summary>
    public static bool IsConflict(Exception failure) =>
        IsTaken(failure, OneStream)
        || failure.GetBaseException() is PostgresException { SqlState: StoredFunction.StreamMoved };

    /// <summary>Whether an append failed because a partition has a later owner.</summary>
    public static bool IsEpochOver(Exception failure) =>
        failure.GetBaseException() is PostgresException { SqlState: StoredFunction.EpochEnded };

    /// <summary>The shards because of which an append failed, since they are not in that database;
    /// null if it failed otherwise.</summary>
    public static IReadOnlySet<int>? ShardsElsewhere(Exception failure) =>
        failure.GetBaseException() is PostgresException { SqlState: StoredFunction.ShardElsewhere } refusal
            ? refusal.MessageText.Split(' ')[^1].Split(',')
                .Select(shard => int.Parse(shard, CultureInfo.InvariantCulture)).ToHashSet()
            : null;

    /// <summary>Whether an append failed because a command already has a receipt.</summary>
    public static bool IsReceiptCollision(Exception failure) =>
        IsTaken(failure, EventStoreSchema.OneEventForEachCommand);

    /// <summary>Whether a stream already has an event of a version beyond its own:
    /// its rows contradict one another.</summary>
    public static bool IsVersionTaken(Exception failure) => IsTaken(failure, OneVersionOfStream);

    /// <summary>Whether an append failed because its sequence number already belongs to a tombstone; a retry gets the
    /// next number. A server that crashes forgets the numbers given to uncommitted transactions and assigns them again,
    /// but Marten remembers them, and fills them with tombstones when the server is back.</summary>
    public static bool IsSequenceNumberTaken(Exception failure) => IsTaken(failure, OneSequenceNumber);

    /// <summary>Whether PostgreSQL, or the connection to it, failed for a reason that is not in the data: it cannot be
    /// reached, is read-only after a failover, has no disk space, refuses the role, has lost a table. However long that
    /// lasts, the command is not at fault.</summary>
    public static bool IsUnavailable(Exception failure) =>
        Cause(failure) is not null && !IsOfClass(failure, DataClasses);

    /// <summary>Whether a database failed as a whole, rather than for some accounts or transactions.</summary>
    public static bool IsOfAllRows(Exception failure) => IsUnavailable(failure) && !IsOfSomeRows(failure);

    private static bool IsOfClass(Exception failure, string[] classes) =>
        Cause(failure) is PostgresException { SqlState: { Length: > 2 } state } && classes.Contains(state[..2]);

    private static NpgsqlException? Cause(Exception failure)
    {
        for (var cause = failure; cause is not null; cause = cause.InnerException)
        {
            if (cause is NpgsqlException npgsql)
            {
                return npgsql;
            }
        }
        return null;
    }

    private static bool IsArchived(Exception failure) =>
        failure.GetBaseException() is PostgresException { SqlState: StoredFunction.StreamArchived };

    private static bool IsOurs(PostgresException failure) =>
        failure.SqlState is StoredFunction.StreamMoved or StoredFunction.EpochEnded or StoredFunction.ShardElsewhere
            or StoredFunction.StreamArchived
        || failure.ConstraintName is EventStoreSchema.OneEventForEachCommand or OneVersionOfStream or OneSequenceNumber
            or OneStream;

    private static bool IsTaken(Exception failure, string constraint) =>
        failure.GetBaseException() is PostgresException { SqlState: PostgresErrorCodes.UniqueViolation } violation
        && violation.ConstraintName == constraint;
}
