using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Rpc.Proxies;

/// <summary>The proxy's side of the direct transport: calls the one backend that serves the command's account. While
/// that backend is unavailable, commands for its accounts fail with UNAVAILABLE: there is no failover.</summary>
public sealed class DirectTransport : IRequestTransport, IAsyncDisposable
{
    private static readonly TimeSpan TimeoutMax = TimeSpan.FromDays(1);

    private readonly BackendAssignment _assignment;
    private readonly IReadOnlyList<IBackendChannel> _backends;
    private readonly TimeProvider _time;

    /// <summary>Creates the transport; it connects to a backend with the first command for it.</summary>
    internal DirectTransport(IReadOnlyList<string> addresses, Func<string, IBackendChannel> channel, TimeProvider time)
    {
        _assignment = new BackendAssignment(addresses);
        _backends = [.. addresses.Select(channel)];
        _time = time;
        Description = new TransportDescription(
            "direct",
            "Proxies call the backend that serves the account directly; "
                + "there are no topics, consumer groups or dead letters. The backends: "
                + string.Join(", ", addresses) + ".",
            StoresCommands: false, TimesSteps: false);
    }

    /// <inheritdoc/>
    public TransportDescription Description { get; }

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Request request, Action<int>? stored = null)
    {
        var left = request.DeadlineUnixUs == 0 ? TimeoutMax : Left(request.DeadlineUnixUs - _time.Microseconds());
        return left <= TimeSpan.Zero
            ? Task.FromResult(Replies.NoAnswerInTime(0))
            : _backends[_assignment.IndexOf(request.Route.StreamId)].ExecuteAsync(request, left);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        foreach (var backend in _backends)
        {
            await backend.DisposeAsync();
        }
    }

    private static TimeSpan Left(long microseconds) =>
        microseconds > TimeoutMax.TotalMicroseconds ? TimeoutMax : TimeSpan.FromMicroseconds(microseconds);
}
