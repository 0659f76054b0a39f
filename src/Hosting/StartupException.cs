namespace Billing.Hosting;

/// <summary>Thrown if a service cannot start for a reason that the operator can fix.
/// The message is printed without a stack trace.</summary>
public sealed class StartupException(string message, Exception? innerException = null)
    : Exception(message, innerException);
