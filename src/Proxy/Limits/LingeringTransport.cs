using System.IO.Pipelines;

namespace Billing.Proxy.Limits;

/// <summary>The bytes of a connection that its caller was told to leave. What it sends before it has heard of that
/// comes to nobody. The system answers such bytes, once the connection is closed, with a reset, and the caller then
/// takes calls for lost that it was to send elsewhere, and answers that it has not read yet. So the connection is kept
/// until the caller closes it.</summary>
/// <param name="inner">The connection.</param>
/// <param name="lingers">Whether the caller was told.</param>
internal sealed class LingeringTransport(IDuplexPipe inner, Func<bool> lingers) : IDuplexPipe
{
    public PipeReader Input { get; } = new Reader(inner.Input, lingers);

    public PipeWriter Output { get; } = new Writer(inner.Output, lingers);

    /// <summary>Waits until the caller has closed the connection; reads what it sends, and drops it.</summary>
    public async Task DrainAsync(CancellationToken cancellationToken)
    {
        try
        {
            ReadResult read;
            do
            {
                read = await inner.Input.ReadAsync(cancellationToken);
                inner.Input.AdvanceTo(read.Buffer.End);
            }
            while (!read.IsCompleted);
        }
        catch (Exception e) when (e is IOException or OperationCanceledException)
        {
            // It is closed, or has taken long enough.
        }
    }

    private sealed class Reader(PipeReader inner, Func<bool> lingers) : PipeReader
    {
        public override void AdvanceTo(SequencePosition consumed) => inner.AdvanceTo(consumed);

        public override void AdvanceTo(SequencePosition consumed, SequencePosition examined) =>
            inner.AdvanceTo(consumed, examined);

        public override void CancelPendingRead() => inner.CancelPendingRead();

        public override bool TryRead(out ReadResult result) => inner.TryRead(out result);

        public override ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default) =>
            inner.ReadAsync(cancellationToken);

        public override void Complete(Exception? exception = null)
        {
            if (exception is not null || !lingers())
            {
                inner.Complete(exception);
            }
        }
    }

    private sealed class Writer(PipeWriter inner, Func<bool> lingers) : PipeWriter
    {
        public override bool CanGetUnflushedBytes => inner.CanGetUnflushedBytes;

        public override long UnflushedBytes => inner.UnflushedBytes;

        public override void Advance(int bytes) => inner.Advance(bytes);

        public override Memory<byte> GetMemory(int sizeHint = 0) => inner.GetMemory(sizeHint);

        public override Span<byte> GetSpan(int sizeHint = 0) => inner.GetSpan(sizeHint);

        public override void CancelPendingFlush() => inner.CancelPendingFlush();

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
            inner.FlushAsync(cancellationToken);

        public override ValueTask<FlushResult> WriteAsync(
            ReadOnlyMemory<byte> source, CancellationToken cancellationToken = default) =>
            inner.WriteAsync(source, cancellationToken);

        public override void Complete(Exception? exception = null)
        {
            if (exception is not null || !lingers())
            {
                inner.Complete(exception);
            }
        }
    }
}
