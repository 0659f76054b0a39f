using Npgsql;

namespace Marten.Exceptions;

public class MartenCommandException : MartenException
{
    public MartenCommandException(NpgsqlCommand? command, Exception innerException)
        : base($"A database command failed: {innerException?.Message}", innerException!)
    {
        Command = command;
    }

    /// <summary>Null for what SaveChangesAsync sent, which is a batch.</summary>
    public NpgsqlCommand? Command { get; }
}
