using System.Buffers.Binary;
using System.IO.Pipelines;

namespace Billing.Proxy.Memory;

/// <summary>The sending side of an HTTP/2 connection. It notes which streams end, by the headers of the frames that
/// pass (RFC 9113, section 4.1). The server tells nobody: a handler ends, and its answer may stay in memory for as long
/// as the caller takes nothing.</summary>
/// <param name="inner">Sends.</param>
/// <param name="ended">Called with each stream that ends, and whether the server has refused it unread, since the
/// caller has too many open.</param>
internal sealed class AnswerMeter(PipeWriter inner, Action<int, bool> ended) : PipeWriter
{
    private const int HeaderBytes = 9;
    private const int ResetBytes = HeaderBytes + 4;
    private const byte Data = 0, Headers = 1, Reset = 3, EndStream = 1;
    private const int RefusedStream = 7;

    // With the code of a reset, which follows it.
    private readonly byte[] _header = new byte[ResetBytes];
    private Memory<byte> _rented;
    private int _headerRead;
    private int _payloadLeft;

    public override bool CanGetUnflushedBytes => inner.CanGetUnflushedBytes;

    public override long UnflushedBytes => inner.UnflushedBytes;

    public override Memory<byte> GetMemory(int sizeHint = 0) => _rented = inner.GetMemory(sizeHint);

    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public override void Advance(int bytes)
    {
        Note(_rented.Span[..bytes]);
        _rented = _rented[bytes..];
        inner.Advance(bytes);
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        inner.FlushAsync(cancellationToken);

    public override void CancelPendingFlush() => inner.CancelPendingFlush();

    public override void Complete(Exception? exception = null) => inner.Complete(exception);

    public override ValueTask CompleteAsync(Exception? exception = null) => inner.CompleteAsync(exception);

    private void Note(ReadOnlySpan<byte> written)
    {
        while (written.Length > 0)
        {
            if (_payloadLeft > 0)
            {
                var passed = Math.Min(_payloadLeft, written.Length);
                written = written[passed..];
                _payloadLeft -= passed;
                continue;
            }
            var wanted = _headerRead < HeaderBytes ? HeaderBytes : ResetBytes;
            var read = Math.Min(wanted - _headerRead, written.Length);
            written[..read].CopyTo(_header.AsSpan(_headerRead));
            written = written[read..];
            _headerRead += read;
            if (_headerRead == ResetBytes || (_headerRead == HeaderBytes && _header[3] != Reset))
            {
                NoteFrame();
            }
        }
    }

    private void NoteFrame()
    {
        var kind = _header[3];
        _payloadLeft = kind == Reset ? 0 : (_header[0] << 16) | (_header[1] << 8) | _header[2];
        _headerRead = 0;
        if (kind == Reset || (kind is Data or Headers && (_header[4] & EndStream) != 0))
        {
            ended(
                BinaryPrimitives.ReadInt32BigEndian(_header.AsSpan(5)),
                kind == Reset && BinaryPrimitives.ReadInt32BigEndian(_header.AsSpan(HeaderBytes)) == RefusedStream);
        }
    }
}
