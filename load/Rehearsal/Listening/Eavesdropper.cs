using System.Buffers.Binary;
using System.ComponentModel;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Listening;

/// <summary>Listens to everything that goes from one machine to another, as an intruder on the router would, and looks
/// for what must not be readable there.</summary>
internal sealed class Eavesdropper : IDisposable
{
    private const ushort InternetProtocol = 0x0800;

    // Links to machines are Ethernet. What the router sends itself through the delay line, it has received before.
    private const ushort Ethernet = 1;

    // SO_RCVBUFFORCE of SOL_SOCKET; PACKET_STATISTICS of SOL_PACKET.
    private const int SocketLevel = 1;
    private const int ForceReceiveBuffer = 33;
    private const int PacketLevel = 263;
    private const int Statistics = 6;

    // What the machines send in a second or so while they leave this process no processor.
    private const int BufferBytes = 128 << 20;

    // More than a packet that the kernel will cut into several later.
    private const int PacketMax = 1 << 18;
    private const int HardwareOffset = 8;

    // Packets are read in heaps: to be woken for each of them would take processor time from the machines.
    private static readonly TimeSpan Heap = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan Idle = TimeSpan.FromMilliseconds(100);

    private readonly Socket _socket;
    private readonly Thread _thread;
    private readonly ManualResetEventSlim _ended = new();
    private readonly Conversations _conversations;
    private volatile Needles _needles;
    private string? _failure;
    private long _packets;

    private Eavesdropper(Socket socket, Needles needles)
    {
        _socket = socket;
        _needles = needles;
        _conversations = new Conversations(needles);
        _thread = new Thread(Listen) { IsBackground = true, Name = nameof(Eavesdropper) };
    }

    /// <summary>Begins to listen in the network namespace of a router.</summary>
    public static Eavesdropper Open(string namespacePath)
    {
        var socket = NetworkNamespace.Run(
            namespacePath,
            () => new Socket(
                AddressFamily.Packet, SocketType.Dgram,
                (ProtocolType)BinaryPrimitives.ReverseEndianness(InternetProtocol)));
        socket.SetRawSocketOption(SocketLevel, ForceReceiveBuffer, BitConverter.GetBytes(BufferBytes));
        var eavesdropper = new Eavesdropper(socket, new Needles(SecretTexts.ByForm()));
        eavesdropper._thread.Start();
        return eavesdropper;
    }

    /// <summary>Looks for the secrets of a folder as well, from now on, and for those that it looked for
    /// before.</summary>
    public void Learn(string folder) => _needles = _needles.And(SecretTexts.Of(folder));

    /// <summary>Stops listening, when everything that the machines have received so far is read.</summary>
    /// <returns>What was heard.</returns>
    public Overheard Conclude()
    {
        _ended.Set();
        _thread.Join();
        _conversations.End();
        // struct tpacket_stats.
        Span<byte> statistics = stackalloc byte[2 * sizeof(uint)];
        _socket.GetRawSocketOption(PacketLevel, Statistics, statistics);
        return new Overheard(
            _conversations.Links, _packets, MemoryMarshal.Read<uint>(statistics[sizeof(uint)..]), _failure);
    }

    public void Dispose()
    {
        _ended.Set();
        _thread.Join();
        _socket.Dispose();
        _ended.Dispose();
    }

    // Whatever ends it early is a finding, and does not end the rehearsal.
    private void Listen()
    {
        try
        {
            var packet = new byte[PacketMax];
            var descriptor = (int)_socket.Handle;
            while (!_ended.Wait(Heap))
            {
                NativeMethods.WaitReadable(descriptor, Idle);
                Drain(descriptor, packet);
            }
            Drain(descriptor, packet);
        }
        catch (Exception e)
        {
            _failure = $"{e.GetType().Name}: {e.Message}";
        }
    }

    private void Drain(int descriptor, Span<byte> buffer)
    {
        // struct sockaddr_ll.
        Span<byte> from = stackalloc byte[20];
        int length;
        while ((length = NativeMethods.TryReceive(descriptor, buffer, from)) > 0)
        {
            if (MemoryMarshal.Read<ushort>(from[HardwareOffset..]) == Ethernet
                && Packet.TryRead(buffer[..length], out var packet))
            {
                _packets++;
                _conversations.Needles = _needles;
                _conversations.Take(packet);
            }
        }
        if (length < 0)
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError());
        }
    }
}
