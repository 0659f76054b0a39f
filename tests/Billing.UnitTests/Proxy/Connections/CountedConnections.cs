using System.Collections.Concurrent;
using System.Net.Sockets;

namespace Billing.UnitTests.Proxy.Connections;

/// <summary>Counts the connections of a caller. Thread-safe.</summary>
internal sealed class CountedConnections
{
    // IPPROTO_TCP, TCP_INFO and TCP_ESTABLISHED of Linux.
    private const int TcpLevel = 6;
    private const int TcpInfo = 11;
    private const byte Established = 1;

    private readonly ConcurrentQueue<Socket> _opened = new();

    /// <summary>How many were opened.</summary>
    public int Opened => _opened.Count;

    /// <summary>How many of them either side has ended.</summary>
    public int Closed => _opened.Count(HasEnded);

    /// <summary>Counts those of a handler.</summary>
    public SocketsHttpHandler On(SocketsHttpHandler handler)
    {
        handler.ConnectCallback = ConnectAsync;
        return handler;
    }

    // A handler looks at its unused connections only now and then.
    private static bool HasEnded(Socket socket)
    {
        try
        {
            var state = new byte[1];
            return socket.GetRawSocketOption(TcpLevel, TcpInfo, state) == 0 || state[0] != Established;
        }
        catch (Exception e) when (e is ObjectDisposedException or SocketException)
        {
            return true;
        }
    }

    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancel)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        try
        {
            await socket.ConnectAsync(context.DnsEndPoint, cancel);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
        _opened.Enqueue(socket);
        return new NetworkStream(socket, ownsSocket: true);
    }
}
