namespace Billing.Messaging.Hosting;

/// <summary>A service cannot start for a reason its operator can mend. The message names the setting; it is printed
/// without a stack trace.</summary>
public sealed class StartupException : Exception
{
    /// <summary>Creates the exception.</summary>
    public StartupException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with what caused it.</summary>
    public StartupException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception without a message.</summary>
    public StartupException()
    {
    }
}
