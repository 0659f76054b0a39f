using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>A transport that keeps a command until a backend takes it, and so has it before there is a reply.</summary>
public interface IQueuedTransport : IRequestTransport
{
    /// <summary>Sends a command and waits for the reply, as <see cref="IRequestTransport.SendAsync"/> does.</summary>
    /// <param name="command">The command.</param>
    /// <param name="queued">Is called once the transport has the command: from then on no failure of this process loses it.
    /// Never, where the transport could not take it, which the reply then says; must not block.</param>
    /// <param name="cancellationToken">The caller has gone; the command may still be processed.</param>
    /// <returns>The reply, or one with an error.</returns>
    Task<Reply> SendAsync(Command command, Action queued, CancellationToken cancellationToken);
}
