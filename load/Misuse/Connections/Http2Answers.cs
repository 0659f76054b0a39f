using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Billing.Misuse.Frames;

namespace Billing.Misuse.Connections;

/// <summary>Answers over HTTP/2, and how much the proxy takes: a body beyond its windows would end the connection
/// before the attack has begun.</summary>
internal sealed class Http2Answers(Tally tally, bool isGrpc) : IAnswers
{
    private const int FirstWindow = 65_535;

    // With its length: other names begin with it.
    private static readonly byte[] GrpcStatus = "\u000bgrpc-status"u8.ToArray();

    private readonly Lock _gate = new();
    private readonly Dictionary<int, long> _used = [];
    private readonly HashSet<int> _over = [];
    private TaskCompletionSource _changed = New();
    private long _connection = FirstWindow;
    private long _initial = FirstWindow;
    private bool _ended;

    private byte[] _frame = new byte[Http2Frames.HeaderBytes];
    private int _length;
    private long _toSkip;

    /// <summary>Takes as much of a stream's and the connection's windows as there is.</summary>
    /// <param name="wanted">The most bytes, above 0.</param>
    /// <returns>The bytes that may be sent, at least 1; 0 if the stream or the connection is over.</returns>
    public async Task<int> TakeAsync(int stream, int wanted, CancellationToken end)
    {
        while (true)
        {
            Task changed;
            lock (_gate)
            {
                if (_ended || _over.Contains(stream))
                {
                    return 0;
                }
                var used = _used.GetValueOrDefault(stream);
                var open = (int)Math.Min(wanted, Math.Min(_connection, _initial - used));
                if (open > 0)
                {
                    _used[stream] = used + open;
                    _connection -= open;
                    return open;
                }
                changed = _changed.Task;
            }
            await changed.WaitAsync(end);
        }
    }

    /// <summary>Whether the proxy has ended a stream.</summary>
    public bool HasEnded(int stream)
    {
        lock (_gate)
        {
            return _over.Contains(stream);
        }
    }

    public void Read(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            if (_toSkip > 0)
            {
                var skipped = (int)Math.Min(_toSkip, bytes.Length);
                _toSkip -= skipped;
                bytes = bytes[skipped..];
                continue;
            }
            var missing = Size() - _length;
            var taken = Math.Min(missing, bytes.Length);
            bytes[..taken].CopyTo(_frame.AsSpan(_length));
            _length += taken;
            bytes = bytes[taken..];
            if (_length >= Http2Frames.HeaderBytes)
            {
                Complete();
            }
        }
    }

    public void End()
    {
        lock (_gate)
        {
            _ended = true;
            Change();
        }
    }

    private static TaskCompletionSource New() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Of the frame that has begun, as far as that is known.
    private int Size() =>
        Http2Frames.HeaderBytes + (_length < Http2Frames.HeaderBytes ? 0 : PayloadLength());

    private int PayloadLength() => (_frame[0] << 16) | (_frame[1] << 8) | _frame[2];

    private void Complete()
    {
        if (_frame[3] == (byte)FrameKind.Data)
        {
            (_toSkip, _length) = (PayloadLength(), 0);
            return;
        }
        if (_frame.Length < Size())
        {
            Array.Resize(ref _frame, Size());
        }
        if (_length < Size())
        {
            return;
        }
        var stream = BinaryPrimitives.ReadInt32BigEndian(_frame.AsSpan(5)) & int.MaxValue;
        Take((FrameKind)_frame[3], _frame[4], stream, _frame.AsSpan(Http2Frames.HeaderBytes, PayloadLength()));
        _length = 0;
    }

    private void Take(FrameKind kind, byte flags, int stream, ReadOnlySpan<byte> payload)
    {
        switch (kind)
        {
            case FrameKind.Headers:
                Count(payload);
                break;
            case FrameKind.Reset:
                tally.StreamReset();
                break;
            case FrameKind.Settings when (flags & 1) == 0:
                Set(payload);
                break;
            case FrameKind.WindowUpdate when payload.Length == 4:
                Widen(stream, BinaryPrimitives.ReadInt32BigEndian(payload) & int.MaxValue);
                break;
        }
        if (kind == FrameKind.Reset || (kind == FrameKind.Headers && (flags & Http2Frames.EndStream) != 0))
        {
            lock (_gate)
            {
                _used.Remove(stream);
                _over.Add(stream);
                Change();
            }
        }
    }

    private void Set(ReadOnlySpan<byte> payload)
    {
        lock (_gate)
        {
            for (; payload.Length >= 6; payload = payload[6..])
            {
                if (BinaryPrimitives.ReadUInt16BigEndian(payload) == Http2Frames.InitialWindow)
                {
                    _initial = BinaryPrimitives.ReadUInt32BigEndian(payload[2..]);
                }
            }
            Change();
        }
    }

    private void Widen(int stream, int bytes)
    {
        lock (_gate)
        {
            if (stream == 0)
            {
                _connection += bytes;
            }
            else if (_used.TryGetValue(stream, out var used))
            {
                _used[stream] = used - bytes;
            }
            Change();
        }
    }

    // Needs the gate.
    private void Change()
    {
        var changed = _changed;
        _changed = New();
        changed.TrySetResult();
    }

    private void Count(ReadOnlySpan<byte> block)
    {
        if (isGrpc)
        {
            if (block.IndexOf(GrpcStatus) is >= 0 and var at && block[(at + GrpcStatus.Length)..] is [var length, ..]
                && block.Length >= at + GrpcStatus.Length + 1 + length)
            {
                var status = Encoding.ASCII.GetString(block.Slice(at + GrpcStatus.Length + 1, length));
                tally.Answered(status == "0" ? null : NameOf(status));
            }
            return;
        }
        // A change of the size of the table comes first (RFC 7541, section 6.3).
        while (block.Length > 0 && (block[0] & 0xe0) == 0x20)
        {
            block = block[1..];
        }
        if (StatusOf(block) is { } code)
        {
            tally.Answered(code[0] == '2' ? null : code);
        }
    }

    private static string NameOf(string status) =>
        int.TryParse(status, NumberStyles.None, CultureInfo.InvariantCulture, out var code)
            ? ((Grpc.Core.StatusCode)code).ToString()
            : status;

    // The index of a status in HPACK's static table, or a literal whose name is there (RFC 7541, appendix A).
    private static string? StatusOf(ReadOnlySpan<byte> block) => block switch
    {
        [0x88, ..] => "200",
        [0x89, ..] => "204",
        [0x8c, ..] => "400",
        [0x8d, ..] => "404",
        [0x8e, ..] => "500",
        [0x08 or 0x18 or 0x48, 3, .. var text] when text.Length >= 3 => Encoding.ASCII.GetString(text[..3]),
        _ => null,
    };
}
