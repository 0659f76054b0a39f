using System.Buffers.Binary;
using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Text;

[assembly: DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]

namespace Billing.Rehearsal.Network;

/// <summary>System calls that the class library does not provide.</summary>
internal static partial class NativeMethods
{
    /// <summary><c>CLONE_NEWNET</c>: a network namespace.</summary>
    private const int NewNetwork = 0x40000000;

    private const int ReadWriteNonBlocking = 0x2 | 0x800;
    private const short Readable = 0x1;
    private const int TryAgain = 11;
    private const int InterruptedCall = 4;

    // MSG_DONTWAIT.
    private const int WithoutWaiting = 0x40;

    // TUNSETIFF of linux/if_tun.h.
    private const nuint SetInterface = 0x400454ca;
    private const short TunWithoutHeader = 0x1 | 0x1000;

    /// <summary>Moves the calling thread into a network namespace.</summary>
    public static void EnterNetworkNamespace(string path)
    {
        using var file = File.OpenHandle(path);
        if (SetNamespace((int)file.DangerousGetHandle(), NewNetwork) != 0)
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), "Cannot enter the network namespace " + path);
        }
    }

    /// <summary>Creates a TUN interface in the thread's network namespace: packets that are routed to it are read from
    /// the descriptor, and packets that are written to the descriptor are received by it.</summary>
    public static int OpenTun(string name)
    {
        var descriptor = Open("/dev/net/tun", ReadWriteNonBlocking);
        if (descriptor < 0)
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), "Cannot open /dev/net/tun");
        }
        // struct ifreq: a name of 16 bytes, flags, and unused space for other requests.
        Span<byte> request = stackalloc byte[40];
        Encoding.ASCII.GetBytes(name, request);
        BinaryPrimitives.WriteInt16LittleEndian(request[16..], TunWithoutHeader);
        if (Control(descriptor, SetInterface, ref MemoryMarshal.GetReference(request)) != 0)
        {
            var error = Marshal.GetLastPInvokeError();
            CloseDescriptor(descriptor);
            throw new Win32Exception(error, "Cannot create the interface " + name);
        }
        return descriptor;
    }

    /// <summary>Waits until there is data to read, at most for the given time.</summary>
    public static void WaitReadable(int descriptor, TimeSpan atMost)
    {
        var poll = new PollDescriptor { Descriptor = descriptor, Events = Readable };
        var time = new TimeSpec
        {
            Seconds = atMost.Ticks / TimeSpan.TicksPerSecond,
            Nanoseconds = atMost.Ticks % TimeSpan.TicksPerSecond * 100,
        };
        _ = Poll(ref poll, 1, in time, 0);
    }

    /// <summary>Reads one packet.</summary>
    /// <returns>Its length; 0 if there is none at the moment, -1 if the interface no longer exists.</returns>
    public static int TryRead(int descriptor, Span<byte> packet)
    {
        var length = Read(descriptor, ref MemoryMarshal.GetReference(packet), (nuint)packet.Length);
        return length >= 0 ? (int)length : Marshal.GetLastPInvokeError() is TryAgain or InterruptedCall ? 0 : -1;
    }

    /// <summary>Writes one packet; if the kernel cannot accept it, it is lost, as on any network.</summary>
    public static void TryWrite(int descriptor, ReadOnlySpan<byte> packet) =>
        _ = Write(descriptor, ref MemoryMarshal.GetReference(packet), (nuint)packet.Length);

    /// <summary>Receives one packet.</summary>
    /// <param name="from">For the address that it came from, as the kernel has it.</param>
    /// <returns>As <see cref="TryRead"/>.</returns>
    public static int TryReceive(int descriptor, Span<byte> packet, Span<byte> from)
    {
        var fromLength = (uint)from.Length;
        var length = ReceiveFrom(
            descriptor, ref MemoryMarshal.GetReference(packet), (nuint)packet.Length, WithoutWaiting,
            ref MemoryMarshal.GetReference(from), ref fromLength);
        return length >= 0 ? (int)length : Marshal.GetLastPInvokeError() is TryAgain or InterruptedCall ? 0 : -1;
    }

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int CloseDescriptor(int descriptor);

    [LibraryImport("libc", EntryPoint = "setns", SetLastError = true)]
    private static partial int SetNamespace(int descriptor, int kind);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    private static partial int Control(int descriptor, nuint request, ref byte argument);

    [LibraryImport("libc", EntryPoint = "ppoll", SetLastError = true)]
    private static partial int Poll(ref PollDescriptor descriptors, nuint count, in TimeSpec atMost, nint signals);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    private static partial nint Read(int descriptor, ref byte buffer, nuint length);

    [LibraryImport("libc", EntryPoint = "recvfrom", SetLastError = true)]
    private static partial nint ReceiveFrom(
        int descriptor, ref byte buffer, nuint length, int flags, ref byte from, ref uint fromLength);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    private static partial nint Write(int descriptor, ref readonly byte buffer, nuint length);

    [StructLayout(LayoutKind.Sequential)]
    private struct PollDescriptor
    {
        public int Descriptor;
        public short Events;
        public short Happened;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
