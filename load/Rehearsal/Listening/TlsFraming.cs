using System.Buffers.Binary;

namespace Billing.Rehearsal.Listening;

/// <summary>Tells TLS from everything else in one direction of a connection: follows its records from header to header,
/// so that nothing in clear hides between or behind them.</summary>
/// <param name="isWhole">Whether it was seen from the connection's first byte on.</param>
/// <param name="traffic">Where the bytes are counted.</param>
internal sealed class TlsFraming(bool isWhole, Traffic traffic)
{
    private const int HeaderBytes = 5;

    // RFC 8446, 5.2, and the more generous RFC 5246, 6.2.3.
    private const int RecordMax = (1 << 14) + 2048;
    private const byte Alert = 21;
    private const byte Handshake = 22;
    private const byte Data = 23;

    // A client of PostgreSQL asks for encryption by one of these, of which the server says whether it is to be.
    private const int RequestsMax = 2;

    private static readonly byte[][] Requests =
        [[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f], [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x30]];

    private readonly byte[] _head = new byte[8];
    private int _headLength;
    private int _requests;

    // How many bytes of the present record are still to come.
    private int _left;
    private bool _isTorn = !isWhole;
    private State _state = isWhole ? State.Start : State.Lost;

    private enum State
    {
        Start,
        Records,
        Clear,
        Lost,
    }

    /// <summary>Reads the bytes that follow those before.</summary>
    /// <param name="segment">They; the first one is the first of a packet.</param>
    public void Read(ReadOnlySpan<byte> segment)
    {
        // Programs often write a record, or several, at once.
        if (_state == State.Lost && segment.Length >= HeaderBytes && IsHeader(segment[..HeaderBytes]))
        {
            _state = State.Records;
        }
        while (!segment.IsEmpty)
        {
            if (_state is State.Clear or State.Lost)
            {
                CountOther(segment.Length);
                return;
            }
            if (_left == 0)
            {
                _head[_headLength++] = segment[0];
                segment = segment[1..];
                Judge();
                continue;
            }
            var length = Math.Min(_left, segment.Length);
            traffic.Tls += length;
            _left -= length;
            segment = segment[length..];
        }
    }

    /// <summary>Bytes that follow those before were not seen.</summary>
    public void Miss(long bytes)
    {
        traffic.Missed += bytes;
        if (_state == State.Records && _left >= bytes)
        {
            _left -= (int)bytes;
        }
        else if (_state != State.Clear)
        {
            End();
            _left = 0;
            _state = State.Lost;
        }
        _isTorn = true;
    }

    /// <summary>No more bytes follow.</summary>
    public void End()
    {
        traffic.Unread += _headLength;
        _headLength = 0;
    }

    private void Judge()
    {
        ReadOnlySpan<byte> head = _head.AsSpan(0, _headLength);
        if (_state == State.Start && _requests < RequestsMax)
        {
            if (head is [(byte)'S'] or [(byte)'N'] || Array.Exists(Requests, request => request.SequenceEqual(Head())))
            {
                _requests++;
                traffic.Tls += _headLength;
                _headLength = 0;
                return;
            }
            if (Array.Exists(Requests, request => request.AsSpan().StartsWith(Head())))
            {
                return;
            }
        }
        if (!IsHeader(head))
        {
            _state = _isTorn ? State.Lost : State.Clear;
            CountOther(_headLength);
            _headLength = 0;
        }
        else if (_headLength == HeaderBytes)
        {
            _state = State.Records;
            _left = BinaryPrimitives.ReadUInt16BigEndian(head[3..]);
            traffic.Tls += HeaderBytes;
            _headLength = 0;
        }
    }

    private ReadOnlySpan<byte> Head() => _head.AsSpan(0, _headLength);

    // Also of the first bytes of a header.
    private bool IsHeader(ReadOnlySpan<byte> head) =>
        head[0] is >= 20 and <= 24
        && (_state != State.Start || head[0] is Handshake or Alert)
        && (head.Length < 2 || head[1] == 3)
        && (head.Length < 3 || head[2] <= 4)
        && (head.Length < HeaderBytes
            || (BinaryPrimitives.ReadUInt16BigEndian(head[3..]) is var length && length <= RecordMax
                && (length > 0 || head[0] == Data)));

    private void CountOther(int bytes)
    {
        if (_state == State.Clear)
        {
            traffic.Clear += bytes;
        }
        else
        {
            traffic.Unread += bytes;
        }
    }
}
