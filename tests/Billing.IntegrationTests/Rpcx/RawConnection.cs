using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.IntegrationTests.Rpcx;

/// <summary>A peer that sends single frames and bytes, valid or invalid.</summary>
internal sealed class RawConnection : IDisposable
{
    public const byte KindHello = 1, KindWelcome = 2, KindNames = 3, KindRequest = 4, KindReply = 6, KindError = 7;

    private readonly Socket _socket;

    private RawConnection(Socket socket) => _socket = socket;

    public static async Task<RawConnection> ConnectAsync(IPEndPoint server)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(server);
        return new RawConnection(socket);
    }

    /// <summary>Returns a socket that listens on a free port.</summary>
    public static Socket Listen()
    {
        var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        return listener;
    }

    public static async Task<RawConnection> AcceptAsync(Socket listener) => new(await listener.AcceptAsync());

    public static byte[] Frame(byte kind, ulong id = 0, ushort method = 0, ulong microseconds = 0, byte[]? payload = null)
    {
        payload ??= [];
        var frame = new byte[24 + payload.Length];
        BinaryPrimitives.WriteInt32LittleEndian(frame, payload.Length);
        frame[4] = kind;
        BinaryPrimitives.WriteUInt16LittleEndian(frame.AsSpan(6), method);
        BinaryPrimitives.WriteUInt64LittleEndian(frame.AsSpan(8), id);
        BinaryPrimitives.WriteUInt64LittleEndian(frame.AsSpan(16), microseconds);
        payload.CopyTo(frame, 24);
        return frame;
    }

    public static byte[] HelloFrame(uint version = 1, uint frameBytesMax = 1 << 20)
    {
        var hello = new RpcxHello
        {
            FrameBytesMax = frameBytesMax,
            Methods = new RpcxMethodNames
            {
                FirstNumber = 1,
                Names = { new RpcxMethodName { Service = "till", Method = "p" } },
            },
        };
        var payload = new byte[8 + hello.CalculateSize()];
        Encoding.ASCII.GetBytes("RPCX", payload);
        BinaryPrimitives.WriteUInt32LittleEndian(payload.AsSpan(4), version);
        hello.WriteTo(payload.AsSpan(8));
        return Frame(KindHello, payload: payload);
    }

    public async Task<RawConnection> HandshakeAsync()
    {
        await SendAsync(HelloFrame());
        Assert.Equal(KindWelcome, (await ReadAsync())!.Value.Kind);
        return this;
    }

    public async Task SendAsync(byte[] bytes)
    {
        for (ReadOnlyMemory<byte> unsent = bytes; unsent.Length > 0;)
        {
            unsent = unsent[await _socket.SendAsync(unsent)..];
        }
    }

    /// <summary>Reads the next frame; null if the peer has closed the connection.</summary>
    public async Task<(byte Kind, ulong Id, byte[] Payload)?> ReadAsync()
    {
        var header = new byte[24];
        if (!await FillAsync(header))
        {
            return null;
        }
        var payload = new byte[BinaryPrimitives.ReadInt32LittleEndian(header)];
        Assert.True(await FillAsync(payload));
        return (header[4], BinaryPrimitives.ReadUInt64LittleEndian(header.AsSpan(8)), payload);
    }

    /// <summary>Reads the error that ends the connection, and checks that the connection is closed after it.</summary>
    public async Task<Error> EndAsync()
    {
        var frame = (await ReadAsync())!.Value;
        Assert.Equal((KindError, 0UL), (frame.Kind, frame.Id));
        Assert.Null(await ReadAsync());
        return Error.Parser.ParseFrom(frame.Payload);
    }

    public void Dispose() => _socket.Dispose();

    private async Task<bool> FillAsync(Memory<byte> buffer)
    {
        while (buffer.Length > 0)
        {
            var read = await _socket.ReceiveAsync(buffer);
            if (read == 0)
            {
                return false;
            }
            buffer = buffer[read..];
        }
        return true;
    }
}
