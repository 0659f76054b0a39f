using Npgsql;

namespace Marten.Exceptions;

public class MartenCommandException : MartenException
{
    public MartenCommandException(NpgsqlCommand? command, Exception innerException)
        : this(command, innerException, null)
    {
    }

    public MartenCommandException(NpgsqlCommand? command, Exception innerException, string? prefix)
        : base($"A database command failed: {prefix}{innerException?.Message}", innerException!)
    {
        Command = command;
        CommandText = command?.CommandText ?? (innerException as NpgsqlException)?.BatchCommand?.CommandText;
    }

    /// <summary>Null for what SaveChangesAsync sent, which is a batch.</summary>
    public NpgsqlCommand? Command { get; }

    public string? CommandText { get; }
}
