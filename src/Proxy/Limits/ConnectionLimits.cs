using System.Collections.Concurrent;
using System.Net;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Limits;

/// <summary>Limits the connections from one address, so that one machine cannot take all of them. It also notes the address as
/// the caller, for calls without authentication.</summary>
/// <param name="max">The most connections from one address.</param>
internal sealed class ConnectionLimits(int max)
{
    private readonly ConcurrentDictionary<IPAddress, Address> _addresses = new();

    /// <summary>Serves a connection to its end, or closes it at once if the address has too many.</summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if ((connection.RemoteEndPoint as IPEndPoint)?.Address is not { } ip)
        {
            await next(connection);
            return;
        }
        if (Enter(ip) is not { } address)
        {
            connection.Abort(new ConnectionAbortedException($"{ip} already has {max} connections (Billing:Limits:ConnectionsPerAddress)."));
            return;
        }
        connection.Features.Set(address.Caller);
        try
        {
            await next(connection);
        }
        finally
        {
            Leave(ip, address);
        }
    }

    private Address? Enter(IPAddress ip)
    {
        while (true)
        {
            var address = _addresses.GetOrAdd(ip, static ip => new Address(new Caller(ip.ToString())));
            lock (address)
            {
                if (address.IsGone)
                {
                    continue;
                }
                if (address.Connections >= max)
                {
                    return null;
                }
                address.Connections++;
                return address;
            }
        }
    }

    private void Leave(IPAddress ip, Address address)
    {
        lock (address)
        {
            if (--address.Connections == 0)
            {
                address.IsGone = true;
                _addresses.TryRemove(ip, out _);
            }
        }
    }

    private sealed class Address(Caller caller)
    {
        public Caller Caller => caller;

        public int Connections { get; set; }

        public bool IsGone { get; set; }
    }
}
