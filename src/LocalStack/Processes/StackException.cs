namespace Billing.LocalStack.Processes;

/// <summary>
/// A program of the local stack could not be found, started, stopped or kept running. The message names the program, the
/// cause and the last lines of its log.
/// </summary>
public sealed class StackException : Exception
{
    /// <summary>Creates the exception without a message.</summary>
    public StackException()
    {
    }

    /// <summary>Creates the exception.</summary>
    /// <param name="message">The program and the cause, fit to be shown to a person.</param>
    public StackException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception.</summary>
    /// <param name="message">The program and the cause, fit to be shown to a person.</param>
    /// <param name="innerException">What the operating system or the runtime reported.</param>
    public StackException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}
