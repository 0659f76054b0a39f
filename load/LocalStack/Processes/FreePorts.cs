using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Billing.LocalStack.Processes;

/// <summary>
/// Reserves free TCP ports of the loopback interface for servers that are about to start. A port stays reserved until
/// disposal: no other stack and no outgoing connection gets it, whether its server is running or not. Safe for concurrent
/// use.
/// </summary>
/// <remarks>
/// Each reservation is a socket that is bound and never listens. Linux lets a server bind to such a port and listen on it if
/// both sockets set SO_REUSEADDR (PostgreSQL, Java and .NET do), but never assigns it as an ephemeral port.
/// </remarks>
public sealed class FreePorts : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<Socket> _reservations = [];
    private bool _disposed;

    /// <summary>Reserves one more port.</summary>
    /// <returns>A port number (1024 to 65535), different from all others of this instance.</returns>
    /// <exception cref="StackException">The machine has no free port.</exception>
    /// <exception cref="ObjectDisposedException">The instance was disposed.</exception>
    public int Take()
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            }
            catch (SocketException exception)
            {
                socket.Dispose();
                throw new StackException($"No free port on 127.0.0.1: {exception.Message}", exception);
            }

            _reservations.Add(socket);
            return ((IPEndPoint)socket.LocalEndPoint!).Port;
        }
    }

    /// <summary>Reserves the given ports.</summary>
    /// <exception cref="StackException">One of them cannot be reserved.</exception>
    public void Take(IEnumerable<int> ports)
    {
        foreach (var port in ports)
        {
            Take(port);
        }
    }

    /// <summary>Reserves the given port.</summary>
    /// <exception cref="StackException">Another program listens on it, it may not be used, or it is already reserved.</exception>
    /// <exception cref="ObjectDisposedException">The instance was disposed.</exception>
    public void Take(int port)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (_reservations.Exists(taken => ((IPEndPoint)taken.LocalEndPoint!).Port == port))
            {
                throw new StackException(string.Create(CultureInfo.InvariantCulture, $"Port {port} is requested twice."));
            }
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                // Ended connections of an earlier stack (in TIME_WAIT) do not prevent the bind.
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
                socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            }
            catch (SocketException exception)
            {
                socket.Dispose();
                var cause = exception.SocketErrorCode == SocketError.AddressAlreadyInUse ? "is in use: another program listens on it" : "cannot be reserved: " + exception.Message;
                throw new StackException(string.Create(CultureInfo.InvariantCulture, $"Port {port} on 127.0.0.1 {cause}."), exception);
            }
            _reservations.Add(socket);
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
}
