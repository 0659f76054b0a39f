using System.Net;
using System.Net.Sockets;
using Billing.LocalStack.Processes;

namespace Billing.Chaos.Network;

/// <summary>The behaviour of a relay. TCP retransmits lost packets, so the programs at both ends see packet loss as an
/// occasional stall and, rarely, as a broken connection. The relay simulates these effects.</summary>
/// <param name="Delay">The delay of all data in one direction.</param>
/// <param name="StallPercent">Share of reads that are stalled as by a retransmission, in percent.</param>
/// <param name="Stall">The additional delay of a stalled read.</param>
/// <param name="ResetPerThousand">Share of reads at which the connection is reset, per thousand.</param>
public sealed record RelayBehaviour(TimeSpan Delay, int StallPercent, TimeSpan Stall, int ResetPerThousand)
{
    /// <summary>100 ms in each direction, with packet loss.</summary>
    public static RelayBehaviour Slow { get; } = new(
        TimeSpan.FromMilliseconds(100), 2, TimeSpan.FromMilliseconds(300), 2);

    /// <summary>Only relays.</summary>
    public static RelayBehaviour None { get; } = new(TimeSpan.Zero, 0, TimeSpan.Zero, 0);
}

/// <summary>The directions in which a relay may be cut.</summary>
[Flags]
public enum Cut
{
    /// <summary>It is not.</summary>
    None = 0,

    /// <summary>What clients send does not arrive.</summary>
    Requests = 1,

    /// <summary>What they are answered does not arrive.</summary>
    Answers = 2,

    /// <summary>Nothing arrives.</summary>
    Both = Requests | Answers,
}

/// <summary>A TCP relay on the loopback interface that delays, stalls and resets connections, can be cut for a while,
/// and can vanish. It preserves the order of the data.</summary>
public sealed class TcpRelay : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly CancellationTokenSource _stopping = new();
    private readonly Random _random = new(1);
    private readonly List<Socket> _clients = [];
    private int _target;
    private RelayBehaviour _behaviour = RelayBehaviour.Slow;
    private Task _accepting = Task.CompletedTask;
    private int _resets;
    private bool _vanished;
    private volatile Cut _cut;

    /// <summary>Creates a relay that accepts connections only after <see cref="Lead"/>.</summary>
    public TcpRelay() => _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));

    /// <summary>Creates a relay to a port and starts it.</summary>
    public TcpRelay(int target, RelayBehaviour behaviour)
        : this() => Lead(target, behaviour);

    /// <summary>The port on which it accepts connections.</summary>
    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>The address of a service behind it.</summary>
    public string Address => $"http://127.0.0.1:{Port}";

    /// <summary>Number of reset connections.</summary>
    public int Resets => Volatile.Read(ref _resets);

    /// <summary>Starts to accept connections; a later call only changes target and behaviour.</summary>
    public void Lead(int target, RelayBehaviour behaviour)
    {
        (_target, _behaviour) = (target, behaviour);
        if (_accepting.IsCompleted)
        {
            _listener.Listen();
            _accepting = AcceptAsync();
        }
    }

    /// <summary>Cuts it, or ends that with <see cref="Cut.None"/>: what did not arrive meanwhile arrives then,
    /// as what the kernels repeat after a cut of the network.</summary>
    public void CutOff(Cut directions) => _cut = directions;

    /// <summary>Makes it a host that has lost its network: nothing that is sent to it arrives, also at its kernel,
    /// so that nothing is acknowledged or refused; and nothing comes from it any more.</summary>
    public void Vanish()
    {
        lock (_clients)
        {
            _vanished = true;
            PacketFilter.DropAll(_listener);
            _clients.ForEach(PacketFilter.DropAll);
        }
    }

    /// <summary>Closes its connections.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Dispose();
        await _accepting;
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var client = await _listener.AcceptAsync(_stopping.Token);
                Keep(client);
                _ = RelayAsync(client);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // The relay is stopped.
        }
    }

    private void Keep(Socket client)
    {
        lock (_clients)
        {
            _clients.Add(client);
            if (_vanished)
            {
                PacketFilter.DropAll(client);
            }
        }
    }

    private async Task RelayAsync(Socket client)
    {
        using var server = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using (client)
        {
            try
            {
                client.NoDelay = server.NoDelay = true;
                await server.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _target), _stopping.Token);
                using var both = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
                await Task.WhenAny(
                    PumpAsync(client, server, Cut.Requests, both.Token),
                    PumpAsync(server, client, Cut.Answers, both.Token));
                await both.CancelAsync();
            }
            catch (Exception e) when (e is SocketException or OperationCanceledException)
            {
                // Both connections are closed.
            }
            finally
            {
                lock (_clients)
                {
                    _clients.Remove(client);
                }
            }
        }
    }

    // Reading continues while earlier data is delayed, so that the delay does not limit the throughput.
    private async Task PumpAsync(Socket from, Socket to, Cut direction, CancellationToken cancellationToken)
    {
        var underWay = System.Threading.Channels.Channel.CreateBounded<(long Due, byte[] Bytes)>(256);
        var delivering = DeliverAsync(underWay.Reader, to, direction, cancellationToken);
        var buffer = new byte[64 * 1024];
        var due = 0L;
        try
        {
            while (await from.ReceiveAsync(buffer, cancellationToken) is > 0 and var read)
            {
                if (Draw(1000) < _behaviour.ResetPerThousand)
                {
                    Interlocked.Increment(ref _resets);
                    from.LingerState = to.LingerState = new LingerOption(true, 0);
                    return;
                }
                var delay = _behaviour.Delay + (Draw(100) < _behaviour.StallPercent ? _behaviour.Stall : TimeSpan.Zero);
                due = Math.Max(due, TimeProvider.System.GetTimestamp()
                    + (long)(delay.TotalSeconds * TimeProvider.System.TimestampFrequency));
                await underWay.Writer.WriteAsync((due, buffer[..read]), cancellationToken);
            }
            underWay.Writer.Complete();
            await delivering;
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            underWay.Writer.TryComplete();
        }
    }

    private async Task DeliverAsync(
        System.Threading.Channels.ChannelReader<(long Due, byte[] Bytes)> underWay, Socket to,
        Cut direction, CancellationToken cancellationToken)
    {
        try
        {
            await foreach (var (due, bytes) in underWay.ReadAllAsync(cancellationToken))
            {
                var wait = TimeProvider.System.GetElapsedTime(TimeProvider.System.GetTimestamp(), due);
                if (wait > TimeSpan.Zero)
                {
                    await Task.Delay(wait, TimeProvider.System, cancellationToken);
                }
                await Poll.LastAsync(
                    () => Task.FromResult(_cut & direction),
                    cut => cut == Cut.None, TimeSpan.MaxValue, cancellationToken);
                if (!Volatile.Read(ref _vanished))
                {
                    await to.SendAsync(bytes, cancellationToken);
                }
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // The connection is closed, which also ends the pump.
        }
    }

    private int Draw(int bound)
    {
        lock (_random)
        {
            return _random.Next(bound);
        }
    }
}
