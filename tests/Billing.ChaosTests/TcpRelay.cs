using System.Net;
using System.Net.Sockets;

namespace Billing.ChaosTests;

/// <summary>What a relay does to what passes. TCP hides a lost packet behind a retransmission, so to the programs at both ends
/// loss is a stall now and then, and a connection that breaks rarely; that is what the relay makes.</summary>
/// <param name="Delay">How much later everything arrives.</param>
/// <param name="StallPercent">Reads, in percent, that are held up as by a retransmission.</param>
/// <param name="Stall">How long they are held up.</param>
/// <param name="ResetPerThousand">Reads, per thousand, at which the connection is reset.</param>
public sealed record RelayBehaviour(TimeSpan Delay, int StallPercent, TimeSpan Stall, int ResetPerThousand)
{
    /// <summary>100 ms there and 100 ms back, and loss.</summary>
    public static RelayBehaviour Slow { get; } = new(TimeSpan.FromMilliseconds(100), 2, TimeSpan.FromMilliseconds(300), 2);
}

/// <summary>A TCP relay on the loopback interface that delays, stalls and resets. Order is kept, as TCP keeps it.</summary>
public sealed class TcpRelay : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly CancellationTokenSource _stopping = new();
    private readonly Random _random = new(1);
    private int _target;
    private RelayBehaviour _behaviour = RelayBehaviour.Slow;
    private Task _accepting = Task.CompletedTask;
    private int _resets;

    /// <summary>A relay that accepts nothing before <see cref="Lead"/>.</summary>
    public TcpRelay() => _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));

    /// <summary>A relay to a port.</summary>
    public TcpRelay(int target, RelayBehaviour behaviour)
        : this() => Lead(target, behaviour);

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>Connections that were reset.</summary>
    public int Resets => Volatile.Read(ref _resets);

    /// <summary>Begins to accept; later only the behaviour changes.</summary>
    public void Lead(int target, RelayBehaviour behaviour)
    {
        (_target, _behaviour) = (target, behaviour);
        if (_accepting.IsCompleted)
        {
            _listener.Listen();
            _accepting = AcceptAsync();
        }
    }

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
                _ = RelayAsync(client);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // The end of the relay.
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
                await Task.WhenAny(PumpAsync(client, server, both.Token), PumpAsync(server, client, both.Token));
                await both.CancelAsync();
            }
            catch (Exception e) when (e is SocketException or OperationCanceledException)
            {
                // Both ends see the connection close.
            }
        }
    }

    // Reading goes on while earlier bytes are on their way: a delay is not a bound on the rate.
    private async Task PumpAsync(Socket from, Socket to, CancellationToken cancellationToken)
    {
        var underWay = System.Threading.Channels.Channel.CreateBounded<(long Due, byte[] Bytes)>(256);
        var delivering = DeliverAsync(underWay.Reader, to, cancellationToken);
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
                due = Math.Max(due, TimeProvider.System.GetTimestamp() + (long)(delay.TotalSeconds * TimeProvider.System.TimestampFrequency));
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

    private static async Task DeliverAsync(
        System.Threading.Channels.ChannelReader<(long Due, byte[] Bytes)> underWay, Socket to, CancellationToken cancellationToken)
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
                await to.SendAsync(bytes, cancellationToken);
            }
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // The other end is gone; the pump notices.
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
