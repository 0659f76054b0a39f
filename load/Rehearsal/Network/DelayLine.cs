using System.Diagnostics;

namespace Billing.Rehearsal.Network;

/// <summary>Delays packets between zones: a TUN interface that returns packets after a delay, in order.
/// netem would do the same, but unlike TUN it is not in every kernel.</summary>
internal sealed class DelayLine : IDisposable
{
    public const string Interface = "zones0";

    // Larger than any packet: without offloading, the kernel fragments packets above the interface's MTU.
    private const int PacketMax = 65_536;

    // More would mean that the machine is overloaded; further packets are dropped, as by a router with a full queue.
    private const int PacketsMax = 50_000;
    private static readonly TimeSpan Idle = TimeSpan.FromMilliseconds(100);

    private readonly Queue<(long DueAt, byte[] Packet)> _inFlight = new();
    private readonly long _delay;
    private readonly int _descriptor;
    private readonly Thread _thread;
    private volatile bool _ended;

    private DelayLine(int descriptor, TimeSpan delay)
    {
        _descriptor = descriptor;
        _delay = (long)(delay.TotalSeconds * Stopwatch.Frequency);
        _thread = new Thread(Carry) { IsBackground = true, Name = Interface, Priority = ThreadPriority.Highest };
    }

    /// <summary>Creates the interface in a network namespace.</summary>
    public static DelayLine Open(string namespacePath, TimeSpan delay)
    {
        var descriptor = NetworkNamespace.Run(namespacePath, () => NativeMethods.OpenTun(Interface));
        var line = new DelayLine(descriptor, delay);
        line._thread.Start();
        return line;
    }

    public void Dispose()
    {
        _ended = true;
        _thread.Join();
        NativeMethods.CloseDescriptor(_descriptor);
    }

    private void Carry()
    {
        var packet = new byte[PacketMax];
        while (!_ended)
        {
            NativeMethods.WaitReadable(_descriptor, Until());
            int length;
            while ((length = NativeMethods.TryRead(_descriptor, packet)) > 0)
            {
                if (_inFlight.Count < PacketsMax)
                {
                    _inFlight.Enqueue((Stopwatch.GetTimestamp() + _delay, packet.AsSpan(0, length).ToArray()));
                }
                Deliver();
            }
            if (length < 0)
            {
                return;
            }
            Deliver();
        }
    }

    private void Deliver()
    {
        while (_inFlight.TryPeek(out var next) && next.DueAt <= Stopwatch.GetTimestamp())
        {
            NativeMethods.TryWrite(_descriptor, _inFlight.Dequeue().Packet);
        }
    }

    private TimeSpan Until()
    {
        if (!_inFlight.TryPeek(out var next))
        {
            return Idle;
        }
        var ticks = next.DueAt - Stopwatch.GetTimestamp();
        return ticks <= 0 ? TimeSpan.Zero : TimeSpan.FromSeconds((double)ticks / Stopwatch.Frequency);
    }
}
