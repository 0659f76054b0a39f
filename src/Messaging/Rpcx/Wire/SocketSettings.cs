using System.Net.Sockets;

namespace Billing.Messaging.Rpcx.Wire;

/// <summary>How both ends set their sockets.</summary>
internal static class SocketSettings
{
    private const int IdleSecondsBeforeProbe = 30;
    private const int SecondsBetweenProbes = 5;
    private const int ProbesUnanswered = 3;

    /// <summary>Sends small frames at once, and notices a peer that has vanished without a word within a minute.</summary>
    public static void Apply(Socket socket)
    {
        socket.NoDelay = true;
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, IdleSecondsBeforeProbe);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, SecondsBetweenProbes);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, ProbesUnanswered);
    }
}
