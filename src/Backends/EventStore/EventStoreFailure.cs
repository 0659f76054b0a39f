using JasperFx;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>What a failure of the event store means to whoever asked it.</summary>
public static class EventStoreFailure
{
    // What the data itself causes, so that it would cause it again: data exceptions and broken constraints. See PostgreSQL's
    // appendix "Error Codes".
    private static readonly string[] DataClasses = ["22", "23"];

    /// <summary>Whether the same may succeed when it is tried again, after a look at what is stored by now.</summary>
    public static bool Passes(Exception failure) =>
        IsConflict(failure) || IsReceiptCollision(failure) || IsSequenceNumberTaken(failure) || IsAway(failure);

    /// <summary>Whether an append failed because a stream has moved on: another owner appended to it.</summary>
    public static bool IsConflict(Exception failure) =>
        failure is ConcurrencyException
        || IsTaken(failure, "mt_streams")
        || failure.GetBaseException() is PostgresException { SqlState: AppendFunction.StreamMoved };

    /// <summary>Whether an append failed because a transaction id has a receipt already.</summary>
    public static bool IsReceiptCollision(Exception failure) => IsTaken(failure, EventStoreSchema.ReceiptsTable);

    /// <summary>Whether an append failed because its sequence number is a tombstone's, in which case the next attempt has
    /// the next number. A server that crashes forgets the numbers of transactions that were under way and gives them out
    /// again; Marten has not forgotten them, and fills them when the server is back.</summary>
    public static bool IsSequenceNumberTaken(Exception failure) => !IsConflict(failure) && IsTaken(failure, "mt_events");

    /// <summary>Whether PostgreSQL, or the way to it, failed for a reason that is not in the data: it cannot be reached, is
    /// read-only after a failover, has no room, refuses the role, has lost a table. However long that lasts, the command is
    /// not at fault.</summary>
    public static bool IsAway(Exception failure)
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
