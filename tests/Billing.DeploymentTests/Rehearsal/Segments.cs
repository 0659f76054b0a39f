using System.Buffers.Binary;
using System.Net;
using System.Text;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Machines;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>A connection from a client to a proxy as packets, which are read in any order.</summary>
internal sealed class Segments(int port = 9092)
{
    private const byte Tcp = 6;
    private const byte Udp = 17;
    private const byte Synchronize = 2;
    private const byte Acknowledge = 16;
    private const uint First = uint.MaxValue - 20;

    public static readonly Machine Client = new("client-1", "client", "a", "10.20.0.61", Nothing());
    public static readonly Machine Proxy = new("proxy-1", "proxy", "a", "10.20.0.31", Nothing());

    private readonly Conversations _conversations = new(new Needles(SecretTexts.ByForm()));

    public Conversations Conversations => _conversations;

    /// <summary>The client opens the connection.</summary>
    public Segments Open()
    {
        Take(Client, Proxy, Header(First - 1, 40_000, port, Synchronize));
        Take(Proxy, Client, Header(First - 1, port, 40_000, Synchronize | Acknowledge));
        return this;
    }

    /// <summary>The client sends bytes.</summary>
    /// <param name="at">Number of bytes that it has sent before.</param>
    /// <param name="payload">The bytes.</param>
    public Segments Send(long at, ReadOnlySpan<byte> payload)
    {
        Take(Client, Proxy, [.. Header(unchecked(First + (uint)at), 40_000, port, Acknowledge), .. payload]);
        return this;
    }

    public Segments Send(long at, string text) => Send(at, Encoding.Latin1.GetBytes(text));

    /// <summary>The server sends its first bytes.</summary>
    public Segments Answer(ReadOnlySpan<byte> payload)
    {
        Take(Proxy, Client, [.. Header(First, port, 40_000, Acknowledge), .. payload]);
        return this;
    }

    /// <summary>The client sends a datagram.</summary>
    public Segments SendAlone(string text)
    {
        var header = new byte[8];
        BinaryPrimitives.WriteUInt16BigEndian(header, 40_000);
        BinaryPrimitives.WriteUInt16BigEndian(header.AsSpan(2), (ushort)port);
        Take(Client, Proxy, [.. header, .. Encoding.Latin1.GetBytes(text)], Udp);
        return this;
    }

    /// <summary>What was heard, between machines that may connect to each other at the port.</summary>
    public ListeningFindings Judge(long dropped = 0)
    {
        _conversations.End();
        return new Overheard(_conversations.Links, packets: 10, dropped, failure: null).Judge(
            new Topology([Client, Proxy], [new AccessRule("client", "proxy", port)], new Dictionary<string, string>()));
    }

    /// <summary>A record of TLS 1.3.</summary>
    public static byte[] Record(byte kind, int length, byte filling = 0x5a) =>
        [kind, 3, 3, (byte)(length >> 8), (byte)length, .. Enumerable.Repeat(filling, length)];

    private void Take(Machine from, Machine to, byte[] content, byte protocol = Tcp)
    {
        var bytes = new byte[20 + content.Length];
        bytes[0] = 0x45;
        BinaryPrimitives.WriteUInt16BigEndian(bytes.AsSpan(2), (ushort)bytes.Length);
        bytes[9] = protocol;
        IPAddress.Parse(from.Address).TryWriteBytes(bytes.AsSpan(12), out _);
        IPAddress.Parse(to.Address).TryWriteBytes(bytes.AsSpan(16), out _);
        content.CopyTo(bytes, 20);
        // As links fill up short packets.
        byte[] padded = [.. bytes, .. "padding acct-1"u8];
        Assert.True(Packet.TryRead(padded, out var packet));
        _conversations.Take(packet);
    }

    private static byte[] Header(uint sequence, int sourcePort, int targetPort, byte flags)
    {
        var header = new byte[20];
        BinaryPrimitives.WriteUInt16BigEndian(header, (ushort)sourcePort);
        BinaryPrimitives.WriteUInt16BigEndian(header.AsSpan(2), (ushort)targetPort);
        BinaryPrimitives.WriteUInt32BigEndian(header.AsSpan(4), sequence);
        header[12] = 5 << 4;
        header[13] = flags;
        return header;
    }

    private static Dictionary<string, string> Nothing() => [];
}
