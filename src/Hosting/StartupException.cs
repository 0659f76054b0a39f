namespace Billing.Hosting;

/// <summary>Thrown if a service cannot start for a reason that the operator can fix. The message is printed without a stack
/// trace.</summary>
public sealed class StartupException : Exception
{
    /// <summary>Creates the exception.</summary>
    public StartupException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with its cause.</summary>
    public StartupException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception without a message.</summary>
    public StartupException()
    {
    }
}
