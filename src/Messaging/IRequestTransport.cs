using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The proxy's side of a transport: a command goes out, its reply comes back.</summary>
public interface IRequestTransport
{
    /// <summary>Sends a command to a backend that serves its account and waits for the reply.</summary>
    /// <param name="command">The transport fills in <see cref="Command.CorrelationId"/> and
    /// <see cref="Command.ProxyTopic"/>; the deadline in it bounds the wait.</param>
    /// <param name="cancellationToken">The caller has gone; the command may still be processed.</param>
    /// <returns>The backend's reply, or one with an error where none came: DEADLINE_EXCEEDED, UNAVAILABLE or
    /// RESOURCE_EXHAUSTED.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    Task<Reply> SendAsync(Command command, CancellationToken cancellationToken);
}
