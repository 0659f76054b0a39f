using System.Buffers;
using System.Buffers.Binary;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Rpc.Rpcx.Wire;

/// <summary>The payload of the first frame of a client: the magic number and the version, little-endian, 4 bytes each and the
/// same in every version, then RpcxHello.</summary>
internal static class Greeting
{
    /// <summary>"RPCX".</summary>
    public const uint Magic = 0x58435052;

    public const uint Version = 1;

    /// <summary>The maximum length of a greeting and of a Names frame.</summary>
    public const int BytesMax = 1 << 20;

    private const int PrefixBytes = 8;

    /// <summary>Returns the bytes of a greeting, which is sent once per connection.</summary>
    public static byte[] Write(RpcxHello hello, uint version = Version)
    {
        var bytes = new byte[PrefixBytes + hello.CalculateSize()];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(4), version);
        hello.WriteTo(bytes.AsSpan(PrefixBytes));
        return bytes;
    }

    /// <exception cref="ProtocolException">It is not a greeting, or of another protocol version.</exception>
    public static RpcxHello Read(in ReadOnlySequence<byte> payload)
    {
        if (payload.Length < PrefixBytes)
        {
            throw new ProtocolException("the greeting is shorter than its prefix");
        }
        Span<byte> prefix = stackalloc byte[PrefixBytes];
        payload.Slice(0, PrefixBytes).CopyTo(prefix);
        if (BinaryPrimitives.ReadUInt32LittleEndian(prefix) != Magic)
        {
            throw new ProtocolException("the greeting does not begin with the magic number");
        }
        var version = BinaryPrimitives.ReadUInt32LittleEndian(prefix[4..]);
        if (version != Version)
        {
            throw new ProtocolException(
                $"the client uses version {version} of RPCX, and this server version {Version}", RpcxReasons.VersionRefused);
        }
        return FrameReader.ParseOwn(RpcxHello.Parser, payload.Slice(PrefixBytes));
    }
}
