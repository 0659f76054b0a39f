using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>Writes the answers of one stream, one at a time. A caller that does not read may block its own stream for any time,
/// but not the shutdown of the proxy: once that has begun, a write that takes too long ends the call.</summary>
internal sealed class DrainingWriter<T>(IServerStreamWriter<T> stream, TimeProvider time, CancellationToken closing) : IDisposable
{
    /// <summary>How long a write may take while the proxy shuts down.</summary>
    public static readonly TimeSpan Grace = TimeSpan.FromSeconds(2);

    private static readonly WriteOptions Buffered = new(WriteFlags.BufferHint);

    private readonly CancellationTokenSource _abandoned = new();

    /// <summary>Writes an answer; completes when the transport has room for more. Without a flush, it may wait for the next one.</summary>
    /// <exception cref="FailureException">UNAVAILABLE: the proxy is shutting down and the caller does not read.</exception>
    public async ValueTask WriteAsync(T answer, bool flush)
    {
        stream.WriteOptions = flush ? null : Buffered;
        var write = stream.WriteAsync(answer, _abandoned.Token);
        if (!write.IsCompleted)
        {
            await WaitAsync(write);
        }
        await write;
    }

    public void Dispose() => _abandoned.Dispose();

    private async Task WaitAsync(Task write)
    {
        try
        {
            await write.WaitAsync(closing);
        }
        catch (OperationCanceledException) when (closing.IsCancellationRequested)
        {
            // The write may have completed in the meantime.
            if (!write.IsCompleted)
            {
                await AbandonAsync(write);
            }
        }
    }

    private async Task AbandonAsync(Task write)
    {
        try
        {
            await write.WaitAsync(Grace, time, CancellationToken.None);
        }
        catch (TimeoutException)
        {
            await _abandoned.CancelAsync();
            await write.ContinueWith(
                _ => { }, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            throw new FailureException(Admission.Closed());
        }
    }
}
