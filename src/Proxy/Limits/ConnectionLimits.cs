using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Limits;

/// <summary>Limits the connections from one address to <paramref name="max"/>, so that one machine cannot take all of
/// them. It also notes the address as the caller, for calls without authentication. A machine that uses IPv6 has a
/// network of 64 bits for itself (RFC 4291, section 2.5.1), which therefore counts as one address.</summary>
internal sealed class ConnectionLimits(int max)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<IPAddress, int> _connections = [];

    /// <summary>Serves a connection to its end, or closes it at once if the address has too many.</summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if ((connection.RemoteEndPoint as IPEndPoint)?.Address is not { } remote)
        {
            await next(connection);
            return;
        }
        var ip = AddressOf(remote);
        if (!TryEnter(ip))
        {
            connection.Abort(new ConnectionAbortedException(
                $"{ip} already has {max} connections (Billing:Limits:ConnectionsPerAddress)."));
            return;
        }
        connection.Features.Set(new Caller(ip.ToString()));
        try
        {
            await next(connection);
        }
        finally
        {
            Leave(ip);
        }
    }

    private static IPAddress AddressOf(IPAddress remote)
    {
        if (remote.IsIPv4MappedToIPv6)
        {
            return remote.MapToIPv4();
        }
        if (remote.AddressFamily != AddressFamily.InterNetworkV6 || IPAddress.IsLoopback(remote))
        {
            return remote;
        }
        var bytes = remote.GetAddressBytes();
        bytes.AsSpan(bytes.Length / 2).Clear();
        return new IPAddress(bytes);
    }

    private bool TryEnter(IPAddress ip)
    {
        lock (_gate)
        {
            ref var count = ref CollectionsMarshal.GetValueRefOrAddDefault(_connections, ip, out _);
            if (count >= max)
            {
                return false;
            }
            count++;
            return true;
        }
    }

    private void Leave(IPAddress ip)
    {
        lock (_gate)
        {
            if (--_connections[ip] == 0)
            {
                _connections.Remove(ip);
            }
        }
    }
}
