using System.Buffers.Binary;

namespace Billing.Rehearsal.Listening;

/// <summary>A packet of IPv4.</summary>
internal readonly ref struct Packet
{
    private const byte Tcp = 6;
    private const byte Udp = 17;
    private const byte Finish = 1;
    private const byte Synchronize = 2;
    private const byte Reset = 4;
    private const int HeaderMin = 20;
    private const int UdpHeader = 8;

    private readonly byte _flags;

    private Packet(ReadOnlySpan<byte> bytes, int header, int length)
    {
        Protocol = bytes[9];
        Source = BinaryPrimitives.ReadUInt32BigEndian(bytes[12..]);
        Target = BinaryPrimitives.ReadUInt32BigEndian(bytes[16..]);
        Payload = bytes[header..length];
        // Only the first fragment has the header with the ports.
        if ((BinaryPrimitives.ReadUInt16BigEndian(bytes[6..]) & 0x1fff) != 0)
        {
            return;
        }
        if (Protocol == Tcp && Payload.Length >= HeaderMin && (Payload[12] >> 4) * 4 is >= HeaderMin and var tcpHeader
            && tcpHeader <= Payload.Length)
        {
            (SourcePort, TargetPort) = Ports(Payload);
            Sequence = BinaryPrimitives.ReadUInt32BigEndian(Payload[4..]);
            _flags = Payload[13];
            Payload = Payload[tcpHeader..];
            IsTcp = true;
        }
        else if (Protocol == Udp && Payload.Length >= UdpHeader)
        {
            (SourcePort, TargetPort) = Ports(Payload);
            Payload = Payload[UdpHeader..];
        }
    }

    public byte Protocol { get; }
    public uint Source { get; }
    public uint Target { get; }

    /// <summary>0 where there is none.</summary>
    public int SourcePort { get; }

    /// <summary>0 where there is none.</summary>
    public int TargetPort { get; }
    public bool IsTcp { get; }

    /// <summary>Of TCP, the number of the payload's first byte.</summary>
    public uint Sequence { get; }

    /// <summary>What follows the headers.</summary>
    public ReadOnlySpan<byte> Payload { get; }

    /// <summary>Whether its sender opens a connection with it.</summary>
    public bool Opens => (_flags & Synchronize) != 0;

    /// <summary>Whether its sender sends nothing after it.</summary>
    public bool Ends => (_flags & (Finish | Reset)) != 0;

    /// <summary>Reads a packet that begins with its IP header.</summary>
    /// <returns>Whether it is one.</returns>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out Packet packet)
    {
        packet = default;
        if (bytes.Length < HeaderMin || bytes[0] >> 4 != 4)
        {
            return false;
        }
        // A link may have filled it up behind; the kernel leaves out the length of what it will cut into packets later.
        var length = BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]) is > 0 and var stated
            ? Math.Min(stated, bytes.Length)
            : bytes.Length;
        var header = (bytes[0] & 0xf) * 4;
        if (header < HeaderMin || header > length)
        {
            return false;
        }
        packet = new Packet(bytes, header, length);
        return true;
    }

    private static (int Source, int Target) Ports(ReadOnlySpan<byte> header) =>
        (BinaryPrimitives.ReadUInt16BigEndian(header), BinaryPrimitives.ReadUInt16BigEndian(header[2..]));
}
