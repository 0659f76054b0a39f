namespace Billing.LocalStack.Processes;

/// <summary>
/// A program of the local stack could not be found, started, stopped or kept running. The message contains the program, the
/// cause and the last lines of its log.
/// </summary>
public sealed class StackException : Exception
{
    /// <summary>Creates the exception without a message.</summary>
    public StackException()
    {
    }

    /// <summary>Creates the exception.</summary>
    /// <param name="message">The program and the cause, as text for the user.</param>
    public StackException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception.</summary>
    /// <param name="message">The program and the cause, as text for the user.</param>
    /// <param name="innerException">The error of the operating system or the runtime.</param>
    public StackException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
