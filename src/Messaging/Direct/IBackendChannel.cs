using Billing.Wire.V1;

namespace Billing.Messaging.Direct;

/// <summary>A proxy's way to one backend. Safe from any thread.</summary>
internal interface IBackendChannel : IAsyncDisposable
{
    /// <summary>Has the backend process a command.</summary>
    /// <param name="command">The command.</param>
    /// <param name="left">How long to wait, above zero.</param>
    /// <param name="cancellationToken">The caller has gone; the command may still be processed.</param>
    /// <returns>The backend's reply, or an error of <see cref="CallFailures"/>.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    Task<Reply> ExecuteAsync(Command command, TimeSpan left, CancellationToken cancellationToken);
}
