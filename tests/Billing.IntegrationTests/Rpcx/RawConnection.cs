using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace Billing.IntegrationTests.Rpcx;

/// <summary>A peer that sends single frames and bytes, valid or invalid.</summary>
internal sealed class RawConnection(Socket socket) : IDisposable
{
    public const byte KindRequest = 1, KindReply = 2, KindError = 3;

    // The hash of till/p.
    public const uint Pay = 0xba850e79;

    public static async Task<RawConnection> ConnectAsync(IPEndPoint server)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(server);
        return new RawConnection(socket);
    }

    public static byte[] Frame(byte kind, ulong id, uint method = Pay, byte[]? payload = null, byte version = 1)
    {
        payload ??= [];
        var frame = new byte[20 + payload.Length];
        BinaryPrimitives.WriteInt32LittleEndian(frame, payload.Length);
        (frame[4], frame[5]) = (kind, version);
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(8), method);
        BinaryPrimitives.WriteUInt64LittleEndian(frame.AsSpan(12), id);
        payload.CopyTo(frame, 20);
        return frame;
    }

    public async Task SendAsync(byte[] bytes)
    {
        for (ReadOnlyMemory<byte> unsent = bytes; unsent.Length > 0;)
        {
            unsent = unsent[await socket.SendAsync(unsent)..];
        }
    }

    /// <summary>Reads the next frame; null if the peer has closed the connection.</summary>
    public async Task<(byte Kind, ulong Id, byte[] Payload)?> ReadAsync()
    {
        var header = new byte[20];
        if (!await FillAsync(header))
        {
            return null;
        }
        var payload = new byte[BinaryPrimitives.ReadInt32LittleEndian(header)];
        Assert.True(await FillAsync(payload));
        return (header[4], BinaryPrimitives.ReadUInt64LittleEndian(header.AsSpan(12)), payload);
    }

    public void Dispose() => socket.Dispose();

    private async Task<bool> FillAsync(Memory<byte> buffer)
    {
        while (buffer.Length > 0)
        {
            var read = 0;
            try
            {
                read = await socket.ReceiveAsync(buffer);
            }
            catch (SocketException)
            {
                // A connection that is closed while something is unread is reset.
            }
            if (read == 0)
            {
                return false;
            }
            buffer = buffer[read..];
        }
        return true;
    }
}
