using System.Net;
using System.Net.Sockets;
using Billing.Client.Connections;

namespace Billing.Client;

/// <summary>Opens the TCP connections to one proxy, and bounds how long its host may be silent: to an attempt to
/// connect, and to what was sent. A host's kernel answers both however busy its processes are, so a silent host is
/// gone. Thread-safe.</summary>
/// <param name="resolve">Looks the addresses of a name up.</param>
/// <param name="ip">Where the proxy is; null to look its name up for each connection.</param>
internal sealed class Connector(Func<string, CancellationToken, Task<IPAddress[]>> resolve, IPAddress? ip = null)
{
    // Four packets. The kernel counts: a timer of this process would also fire where only this process has to
    // wait for a processor.
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(5);

    // A connection breaks 15 s after the last sign of life.
    private const int SecondsBeforeProbe = 5;
    private const int SecondsBetweenProbes = 2;
    private const int ProbesUnanswered = 5;
    private const int SilentMsMax = (SecondsBeforeProbe + (SecondsBetweenProbes * ProbesUnanswered)) * 1000;

    // IPPROTO_TCP and TCP_USER_TIMEOUT of Linux.
    private const int TcpLevel = 6;
    private const int UserTimeout = 18;

    // A timestamp, 0 if none.
    private long _timedOutAt;

    /// <summary>Opens a connection, for <see cref="SocketsHttpHandler.ConnectCallback"/>.</summary>
    /// <exception cref="SocketException">The proxy cannot be reached.</exception>
    public async ValueTask<Stream> ConnectAsync(
        SocketsHttpConnectionContext context, CancellationToken cancellationToken)
    {
        // The handler makes one attempt after another, and each fails only one of the calls that wait for a connection.
        // The others would wait again, one after another, so a time-out counts for the following attempts too.
        if (Volatile.Read(ref _timedOutAt) is not 0 and var at
            && TimeProvider.System.GetElapsedTime(at) < ConnectTimeout)
        {
            throw TimedOut();
        }
        try
        {
            var socket = await AddressRace.ConnectAsync(
                await AddressesAsync(context.DnsEndPoint.Host, cancellationToken).ConfigureAwait(false),
                context.DnsEndPoint.Port, socket => BoundSilence(socket, (int)ConnectTimeout.TotalMilliseconds),
                cancellationToken).ConfigureAwait(false);
            BoundSilence(socket, SilentMsMax);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.TimedOut)
        {
            Volatile.Write(ref _timedOutAt, TimeProvider.System.GetTimestamp());
            throw TimedOut();
        }
    }

    private async ValueTask<IPAddress[]> AddressesAsync(string host, CancellationToken cancellationToken)
    {
        if ((ip ?? (IPAddress.TryParse(host, out var literal) ? literal : null)) is { } known)
        {
            return [known];
        }
        var addresses = await resolve(host, cancellationToken).ConfigureAwait(false);
        return addresses.Length > 0
            ? addresses
            : throw new SocketException((int)SocketError.NoData, $"'{host}' has no address");
    }

    private static void BoundSilence(Socket socket, int unacknowledgedMsMax)
    {
        try
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, SecondsBeforeProbe);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, SecondsBetweenProbes);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, ProbesUnanswered);
            if (OperatingSystem.IsLinux())
            {
                // For what is not acknowledged, of an attempt to connect or of data: the kernel sends no probes
                // meanwhile. It replaces the number of probes.
                socket.SetRawSocketOption(TcpLevel, UserTimeout, BitConverter.GetBytes(unacknowledgedMsMax));
            }
        }
        catch (SocketException)
        {
            // This system lacks an option; its own bounds apply.
        }
    }

    // Not an exception of the handler's own time-out: gRPC takes that for a cancellation by the caller.
    private static SocketException TimedOut() =>
        new((int)SocketError.TimedOut, $"No connection within {ConnectTimeout.TotalSeconds} s");
}
