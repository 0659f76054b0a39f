using System.Net;
using System.Net.Sockets;

namespace Billing.LocalStack.Processes;

/// <summary>
/// Reserves free TCP ports of the loopback interface for servers that are about to start. A port stays reserved until
/// disposal: no other stack and no outgoing connection gets it, whether its server is running or not.
/// Safe for concurrent use.</summary>
/// <remarks>
/// Each reservation is a socket that is bound and never listens. Linux lets a server bind to such a port
/// and listen on it if both sockets set SO_REUSEADDR (PostgreSQL, Java and .NET do), but never assigns it
/// as an ephemeral port.</remarks>
public sealed class FreePorts : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<Socket> _reservations = [];
    private bool _disposed;

    /// <summary>Reserves one more port.</summary>
    /// <returns>A port number (1024 to 65535), different from all others of this instance.</returns>
    /// <exception cref="StackException">The machine has no free port.</exception>
    public int Take() => Reserve(
        socket =>
        {
            // Without SO_REUSEADDR, so that the system does not choose a port that another instance has reserved.
            socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            AllowReuse(socket);
        },
        e => $"No free port on 127.0.0.1: {e.Message}");

    /// <summary>Reserves the given ports.</summary>
    /// <exception cref="StackException">Another program listens on one of them, or it may not be used, or is
    /// already reserved.</exception>
    public void Take(params IEnumerable<int> ports)
    {
        foreach (var port in ports)
        {
            lock (_gate)
            {
                if (_reservations.Exists(taken => PortOf(taken) == port))
                {
                    throw new StackException($"Port {port} is requested twice.");
                }
            }
            Reserve(
                socket =>
                {
                    // Ended connections of an earlier stack (in TIME_WAIT) do not prevent the bind.
                    AllowReuse(socket);
                    socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
                },
                e => $"Port {port} on 127.0.0.1 " + (e.SocketErrorCode == SocketError.AddressAlreadyInUse
                    ? "is in use: another program listens on it."
                    : $"cannot be reserved: {e.Message}."));
        }
    }

    /// <summary>Releases all reservations. Servers that listen on their ports keep them.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _disposed = true;
            _reservations.ForEach(static socket => socket.Dispose());
            _reservations.Clear();
        }
    }

    private int Reserve(Action<Socket> bind, Func<SocketException, string> failure)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                bind(socket);
                _reservations.Add(socket);
                return PortOf(socket);
            }
            catch (SocketException e)
            {
                socket.Dispose();
                throw new StackException(failure(e), e);
            }
        }
    }

    private static int PortOf(Socket socket) => ((IPEndPoint)socket.LocalEndPoint!).Port;

    private static void AllowReuse(Socket socket) =>
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
}
