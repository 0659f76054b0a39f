using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Rpc.Proxies;

/// <summary>A proxy's connection to one backend. Thread-safe.</summary>
internal interface IBackendChannel : IAsyncDisposable
{
    /// <summary>Sends a request to the backend as a command, and waits for the reply.</summary>
    /// <param name="left">The time left until the deadline, above zero.</param>
    /// <returns>The backend's reply, or an error of <see cref="CallFailures"/>.</returns>
    Task<Reply> ExecuteAsync(Request request, TimeSpan left);
}
