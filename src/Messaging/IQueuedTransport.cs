using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>A transport that stores each command durably before a backend replies to it.</summary>
public interface IQueuedTransport : IRequestTransport
{
    /// <summary>Sends a command and waits for the reply, as <see cref="IRequestTransport.SendAsync"/> does.</summary>
    /// <param name="command">The command.</param>
    /// <param name="queued">Called once, when the transport has stored the command: from then on no failure of this process
    /// loses it. Not called if the transport could not store it; the reply then contains the error. Must not block.</param>
    /// <returns>The reply, which may contain an error.</returns>
    Task<Reply> SendAsync(Command command, Action queued);
}
