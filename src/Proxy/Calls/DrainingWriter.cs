using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>Writes the answers of one stream, one at a time. A caller that does not read may block its own stream until
/// it has to end, and no longer: then a write that takes too long ends the call.</summary>
internal sealed class DrainingWriter<T>(IServerStreamWriter<T> stream, StreamEnd end) : IDisposable
{
    private static readonly WriteOptions Buffered = new(WriteFlags.BufferHint);

    private readonly CancellationTokenSource _abandoned = new();

    /// <summary>Writes an answer; completes when the transport has room for more.
    /// Without a flush, it may wait for the next one.</summary>
    /// <exception cref="FailureException">The stream has to end, and the caller does not read.</exception>
    public async ValueTask WriteAsync(T answer, bool flush)
    {
        stream.WriteOptions = flush ? null : Buffered;
        var write = stream.WriteAsync(answer, _abandoned.Token);
        if (!write.IsCompleted && !await end.WaitAsync(write))
        {
            await AbandonAsync(write);
        }
        await write;
    }

    public void Dispose() => _abandoned.Dispose();

    private async Task AbandonAsync(Task write)
    {
        await _abandoned.CancelAsync();
        await write.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        throw new FailureException(end.Failure);
    }
}
