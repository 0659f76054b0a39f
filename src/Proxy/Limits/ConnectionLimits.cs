using System.Net;
using System.Runtime.InteropServices;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Limits;

/// <summary>Limits the connections from one address to <paramref name="max"/>, so that one machine cannot take all of them. It also
/// notes the address as the caller, for calls without authentication.</summary>
internal sealed class ConnectionLimits(int max)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<IPAddress, int> _connections = [];

    /// <summary>Serves a connection to its end, or closes it at once if the address has too many.</summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if ((connection.RemoteEndPoint as IPEndPoint)?.Address is not { } ip)
        {
            await next(connection);
            return;
        }
        if (!TryEnter(ip))
        {
            connection.Abort(new ConnectionAbortedException($"{ip} already has {max} connections (Billing:Limits:ConnectionsPerAddress)."));
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
