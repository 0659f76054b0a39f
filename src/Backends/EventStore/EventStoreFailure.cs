using JasperFx;
using Npgsql;

namespace Billing.Backends.EventStore;

internal static class EventStoreFailure
{
    // The SQLSTATE classes of failures that the data itself causes, and would cause again: data exceptions and integrity
    // constraint violations. See PostgreSQL's appendix "Error Codes".
    private static readonly string[] DataClasses = ["22", "23"];

    /// <summary>Whether a retry may succeed, once the caller has looked up what is stored by now.</summary>
    public static bool IsRetryable(Exception failure) =>
        IsConflict(failure) || IsEpochOver(failure) || IsReceiptCollision(failure) || IsSequenceNumberTaken(failure) || IsUnavailable(failure);

    /// <summary>Whether an append failed because a stream's version has changed: another owner appended to it.</summary>
    public static bool IsConflict(Exception failure) =>
        failure is ConcurrencyException
        || IsTaken(failure, "mt_streams")
        || failure.GetBaseException() is PostgresException { SqlState: StoredFunction.StreamMoved };

    /// <summary>Whether an append failed because a partition has a later owner.</summary>
    public static bool IsEpochOver(Exception failure) =>
        failure.GetBaseException() is PostgresException { SqlState: StoredFunction.EpochEnded };

    /// <summary>Whether an append failed because a transaction id already has a receipt.</summary>
    public static bool IsReceiptCollision(Exception failure) => IsTaken(failure, EventStoreSchema.ReceiptsTable);

    /// <summary>Whether an append failed because its sequence number already belongs to a tombstone; a retry gets the next
    /// number. A server that crashes forgets the numbers given to uncommitted transactions and assigns them again, but
    /// Marten remembers them, and fills them with tombstones when the server is back.</summary>
    public static bool IsSequenceNumberTaken(Exception failure) => !IsConflict(failure) && IsTaken(failure, "mt_events");

    /// <summary>Whether PostgreSQL, or the connection to it, failed for a reason that is not in the data: it cannot be reached,
    /// is read-only after a failover, has no disk space, refuses the role, has lost a table. However long that lasts, the
    /// command is not at fault.</summary>
    public static bool IsUnavailable(Exception failure)
    {
        for (var cause = failure; cause is not null; cause = cause.InnerException)
        {
            if (cause is NpgsqlException)
            {
                return cause is not PostgresException { SqlState: { Length: > 2 } state } || !DataClasses.Contains(state[..2]);
            }
        }
        return false;
    }

    private static bool IsTaken(Exception failure, string table) =>
        failure.GetBaseException() is PostgresException { SqlState: PostgresErrorCodes.UniqueViolation } violation
        && violation.TableName == table;
}
