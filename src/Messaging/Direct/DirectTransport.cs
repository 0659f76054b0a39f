using Billing.Contracts;
using Billing.Wire.V1;

namespace Billing.Messaging.Direct;

/// <summary>The proxy's side of the direct transport: calls the one backend that serves the command's account. While that
/// backend is away its accounts get UNAVAILABLE: nobody takes its share over.</summary>
public sealed class DirectTransport : IRequestTransport, IAsyncDisposable
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(1);

    private readonly BackendShares _shares;
    private readonly IReadOnlyList<IBackendChannel> _backends;
    private readonly TimeProvider _time;

    /// <summary>Creates the transport; backends are called when there is something to ask.</summary>
    internal DirectTransport(IReadOnlyList<string> addresses, Func<string, IBackendChannel> channel, TimeProvider time)
    {
        _shares = new BackendShares(addresses);
        _backends = [.. addresses.Select(channel)];
        _time = time;
    }

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Command command, CancellationToken cancellationToken)
    {
        var left = command.DeadlineUnixUs == 0 ? LongestWait : Left(command.DeadlineUnixUs - _time.Microseconds());
        return left <= TimeSpan.Zero
            ? Task.FromResult(CallFailures.Late())
            : _backends[_shares.IndexOf(CommandRoute.Of(command).StreamId)].ExecuteAsync(command, left, cancellationToken);
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
        microseconds > LongestWait.TotalMicroseconds ? LongestWait : TimeSpan.FromMicroseconds(microseconds);
}
