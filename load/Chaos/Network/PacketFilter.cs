using System.Buffers.Binary;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Billing.Chaos.Network;

/// <summary>Filters of the kernel on the packets for one socket, which need no privileges.</summary>
public static class PacketFilter
{
    // SOL_SOCKET and SO_ATTACH_FILTER of Linux.
    private const int SocketLevel = 1;
    private const int AttachFilter = 26;

    // A struct sock_filter: BPF_RET | BPF_K, and the number of bytes that pass, none.
    private const ulong ReturnNone = 0x06;

    /// <summary>Drops every packet for a socket before its connection sees it; for a listener also every
    /// attempt to connect.</summary>
    public static void DropAll(Socket socket)
    {
        var instruction = GCHandle.Alloc(ReturnNone, GCHandleType.Pinned);
        try
        {
            // A struct sock_fprog: the number of instructions and, aligned, the pointer to them.
            Span<byte> program = stackalloc byte[2 * sizeof(long)];
            program.Clear();
            BinaryPrimitives.WriteUInt16LittleEndian(program, 1);
            BinaryPrimitives.WriteInt64LittleEndian(program[sizeof(long)..], instruction.AddrOfPinnedObject());
            socket.SetRawSocketOption(SocketLevel, AttachFilter, program);
        }
        finally
        {
            instruction.Free();
        }
    }
}
