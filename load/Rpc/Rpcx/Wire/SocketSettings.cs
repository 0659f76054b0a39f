using System.Net.Sockets;

namespace Billing.Rpc.Rpcx.Wire;

/// <summary>Socket settings of both ends.</summary>
internal static class SocketSettings
{
    private const int IdleSecondsBeforeProbe = 30;
    private const int SecondsBetweenProbes = 5;
    private const int ProbesUnanswered = 3;

    /// <summary>Sends small frames without delay, and enables keep-alive probes, which detect a silently failed peer within a
    /// minute.</summary>
    public static void Apply(Socket socket)
    {
        socket.NoDelay = true;
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, IdleSecondsBeforeProbe);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, SecondsBetweenProbes);
        socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, ProbesUnanswered);
    }
}
