using System.Buffers.Binary;
using System.Text;

namespace Billing.Misuse.Frames;

/// <summary>The kinds of HTTP/2 frames (RFC 9113, section 6).</summary>
internal enum FrameKind : byte
{
    /// <summary>The body of a request or an answer.</summary>
    Data = 0,

    /// <summary>Opens a stream.</summary>
    Headers = 1,

    /// <summary>Has no effect any more.</summary>
    Priority = 2,

    /// <summary>Ends a stream.</summary>
    Reset = 3,

    /// <summary>Says what the peer may do.</summary>
    Settings = 4,

    /// <summary>Asks for an answer of the connection.</summary>
    Ping = 6,

    /// <summary>Ends the connection.</summary>
    GoAway = 7,

    /// <summary>Lets the peer send more.</summary>
    WindowUpdate = 8,

    /// <summary>More headers.</summary>
    Continuation = 9,
}

/// <summary>Frames of HTTP/2 (RFC 9113), as a client sends them: valid ones, and whatever its caller puts
/// together.</summary>
internal static class Http2Frames
{
    /// <summary>The flag of the last frame of a stream, and of an acknowledgement.</summary>
    public const byte EndStream = 1;

    /// <summary>The flag of the last frame of headers.</summary>
    public const byte EndHeaders = 4;

    /// <summary>The flag of a frame with padding.</summary>
    public const byte Padded = 8;

    /// <summary>The largest payload that every peer takes, in bytes.</summary>
    public const int PayloadMax = 16_384;

    /// <summary>The size of a frame without its payload, in bytes.</summary>
    public const int HeaderBytes = 9;

    /// <summary>The setting of the window of a new stream.</summary>
    public const ushort InitialWindow = 4;

    // RFC 7541, section 5.1: an integer with a prefix of seven bits.
    private const int PrefixMax = 127;

    /// <summary>What a client sends first.</summary>
    public static byte[] Preface { get; } = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray();

    /// <summary>A frame.</summary>
    public static byte[] Frame(FrameKind kind, byte flags, int stream, ReadOnlySpan<byte> payload = default)
    {
        var frame = new byte[HeaderBytes + payload.Length];
        (frame[0], frame[1], frame[2], frame[3], frame[4]) =
            ((byte)(payload.Length >> 16), (byte)(payload.Length >> 8), (byte)payload.Length, (byte)kind, flags);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(5), stream);
        payload.CopyTo(frame.AsSpan(HeaderBytes));
        return frame;
    }

    /// <summary>A frame of settings.</summary>
    public static byte[] Settings(params ReadOnlySpan<(ushort Name, uint Value)> settings)
    {
        var payload = new byte[settings.Length * 6];
        for (var i = 0; i < settings.Length; i++)
        {
            BinaryPrimitives.WriteUInt16BigEndian(payload.AsSpan(i * 6), settings[i].Name);
            BinaryPrimitives.WriteUInt32BigEndian(payload.AsSpan((i * 6) + 2), settings[i].Value);
        }
        return Frame(FrameKind.Settings, 0, 0, payload);
    }

    /// <summary>A frame that lets the peer send more on a stream, or with 0 on the connection.</summary>
    public static byte[] WindowUpdate(int stream, int bytes) => Frame(FrameKind.WindowUpdate, 0, stream, Number(bytes));

    /// <summary>A frame that ends a stream.</summary>
    public static byte[] Reset(int stream, int error) => Frame(FrameKind.Reset, 0, stream, Number(error));

    /// <summary>Fields of headers as literals without an index (RFC 7541, section 6.2.2), so that no table is
    /// needed.</summary>
    public static byte[] Fields(params IEnumerable<(string Name, string Value)> fields)
    {
        var block = new List<byte>();
        foreach (var (name, value) in fields)
        {
            block.Add(0);
            AddText(block, name);
            AddText(block, value);
        }
        return [.. block];
    }

    /// <summary>A field that the peer keeps in its table (RFC 7541, section 6.2.1).</summary>
    public static byte[] KeptField(string name, string value)
    {
        List<byte> block = [0x40];
        AddText(block, name);
        AddText(block, value);
        return [.. block];
    }

    private static void AddText(List<byte> block, string text)
    {
        var bytes = Encoding.ASCII.GetBytes(text);
        block.Add((byte)Math.Min(bytes.Length, PrefixMax));
        if (bytes.Length >= PrefixMax)
        {
            var rest = bytes.Length - PrefixMax;
            for (; rest >= 128; rest >>= 7)
            {
                block.Add((byte)(rest | 0x80));
            }
            block.Add((byte)rest);
        }
        block.AddRange(bytes);
    }

    private static byte[] Number(int value)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, value);
        return bytes;
    }
}
