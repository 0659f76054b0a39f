namespace Billing.Operator.Arguments;

/// <summary>A command cannot do what it was asked to do. The message tells the user why.</summary>
/// <param name="message">The cause, as text for the user.</param>
/// <param name="innerException">The error that it follows from; null if there is none.</param>
public class CommandException(string message, Exception? innerException = null) : Exception(message, innerException);
