using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The proxy's side of a transport: sends commands and receives their replies.</summary>
public interface IRequestTransport
{
    /// <summary>Sends a command to a backend that serves its account and waits for the reply. It cannot be cancelled: a command
    /// that was sent is processed, whether or not anybody waits for its reply.</summary>
    /// <param name="command">The command. The transport sets <see cref="Command.CorrelationId"/> and
    /// <see cref="Command.ProxyTopic"/>; the wait ends at the command's deadline.</param>
    /// <returns>The backend's reply, or an error reply if none arrived: DEADLINE_EXCEEDED, UNAVAILABLE or
    /// RESOURCE_EXHAUSTED.</returns>
    Task<Reply> SendAsync(Command command);
}
