using Billing.Operator.Arguments;

namespace Billing.LocalStack.Processes;

/// <summary>
/// A program of the local stack could not be found, started, stopped or kept running. The message contains the program,
/// the cause and the last lines of its log.</summary>
/// <param name="message">The program and the cause, as text for the user.</param>
public sealed class StackException(string message, Exception? innerException = null)
    : CommandException(message, innerException);
