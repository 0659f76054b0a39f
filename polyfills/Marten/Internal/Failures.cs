using Marten.Exceptions;
using Npgsql;

namespace Marten.Internal;

/// <summary>What a failed statement is thrown as.</summary>
internal static class Failures
{
    public static Exception Translate(NpgsqlException failure, NpgsqlCommand? command = null)
        => failure.SqlState == PostgresErrorCodes.SerializationFailure
            ? new ConcurrentUpdateException(failure)
            : new MartenCommandException(command, failure);

    public static async Task<T> TranslateAsync<T>(Func<Task<T>> execute, NpgsqlCommand? command = null)
    {
        try
        {
            return await execute().ConfigureAwait(false);
        }
        catch (NpgsqlException failure)
        {
            throw Translate(failure, command);
        }
    }
}
