using Billing.Messaging.Requests;
using Billing.Proxy.Security;
using Billing.Wire.V1;

namespace Billing.Proxy.Calls;

/// <summary>What a front knows of a call besides its request.</summary>
/// <param name="Caller">The caller.</param>
/// <param name="Deadline">How long the caller waits.</param>
/// <param name="Gone">Cancelled when the caller is gone; a command that was sent is still processed.</param>
public sealed record IncomingCall(Caller Caller, CallerDeadline Deadline, CancellationToken Gone)
{
    /// <summary>When the client sent the request, in microseconds since the Unix epoch, if the caller asks for the times of its
    /// steps; null otherwise.</summary>
    public long? SentUnixUs { get; init; }

    /// <summary>Called with the reply of a backend, before it becomes an answer; null if nobody is interested.</summary>
    public Action<Request, Reply>? Replied { get; init; }
}
