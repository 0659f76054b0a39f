using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Billing.LocalStack.Processes;

/// <summary>
/// Reserves free TCP ports of the loopback interface for servers that are about to start. A port stays reserved until
/// disposal: no other stack is given it and no outgoing connection takes it, whether its server is up or down. Safe for
/// concurrent use.
/// </summary>
/// <remarks>
/// Each reservation is a socket that is bound and never listens. Linux lets a server bind and listen on such a port, as
/// long as both sides set SO_REUSEADDR (PostgreSQL, Java and .NET do), but never hands it out as an ephemeral one.
/// </remarks>
public sealed class FreePorts : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<Socket> _reservations = [];
    private bool _disposed;

    /// <summary>Reserves one more port.</summary>
    /// <returns>A port number (1024 to 65535), distinct from all others taken from this instance.</returns>
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

    /// <summary>Reserves ports that somebody asked for.</summary>
    /// <exception cref="StackException">One of them cannot be had.</exception>
    public void Take(IEnumerable<int> ports)
    {
        foreach (var port in ports)
        {
            Take(port);
        }
    }

    /// <summary>Reserves the port that somebody asked for.</summary>
    /// <exception cref="StackException">Another program listens there, it may not be taken, or it was asked for before.</exception>
    /// <exception cref="ObjectDisposedException">The instance was disposed.</exception>
    public void Take(int port)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (_reservations.Exists(taken => ((IPEndPoint)taken.LocalEndPoint!).Port == port))
            {
                throw new StackException(string.Create(CultureInfo.InvariantCulture, $"Port {port} is asked for twice."));
            }
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                // Connections that have ended, of a stack before, are not in the way.
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
                socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            }
            catch (SocketException exception)
            {
                socket.Dispose();
                var why = exception.SocketErrorCode == SocketError.AddressAlreadyInUse ? "is taken: another program listens there" : "cannot be had: " + exception.Message;
                throw new StackException(string.Create(CultureInfo.InvariantCulture, $"Port {port} on 127.0.0.1 {why}."), exception);
            }
            _reservations.Add(socket);
        }
    }

    /// <summary>Gives up all reservations. Servers that listen on their ports keep them.</summary>
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
