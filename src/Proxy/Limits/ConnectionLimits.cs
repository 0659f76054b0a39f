using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;

namespace Billing.Proxy.Limits;

/// <summary>Takes memory for each connection by its address, before anything of it is read, so that one machine cannot
/// take all of it. It also notes the address as the caller, for calls without authentication. A machine that uses IPv6
/// has a network of 64 bits for itself (RFC 4291, section 2.5.1), which therefore counts as one address.</summary>
internal sealed class ConnectionLimits : IDisposable
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(5);

    private readonly ProxyMemory _memory;
    private readonly TimeProvider _time;
    private readonly ITimer _looks;
    private readonly Lock _gate = new();
    private readonly Dictionary<IPAddress, Address> _addresses = [];
    private readonly ConcurrentDictionary<CallerConnection, bool> _open = new();

    public ConnectionLimits(ProxyMemory memory, TimeProvider time)
    {
        (_memory, _time) = (memory, time);
        _looks = time.CreateTimer(_ => Look(), null, LookInterval, LookInterval);
    }

    /// <summary>Serves a connection to its end, or closes it at once if there is no memory for it.</summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        if ((connection.RemoteEndPoint as IPEndPoint)?.Address is not { } remote)
        {
            await next(connection);
            return;
        }
        var ip = AddressOf(remote);
        if (Enter(ip) is not { } address)
        {
            connection.Abort(new ConnectionAbortedException(
                $"{ip} has as many connections as memory allows (Billing:Proxy:ConnectionsMax)."));
            return;
        }
        var caller = new CallerConnection(connection, address.Requests, _memory.Requests, _time);
        connection.Features.Set(new Caller(ip.ToString()));
        connection.Features.Set(caller);
        _open.TryAdd(caller, true);
        try
        {
            await next(connection);
        }
        finally
        {
            _open.TryRemove(caller, out _);
            caller.Close();
            Leave(ip, address);
        }
    }

    /// <summary>Has the end of each answer noted on a connection of HTTP/2; to be called within TLS.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="isHttp2">Whether it is one without TLS.</param>
    /// <param name="next">Serves it.</param>
    public static Task MeterAsync(ConnectionContext connection, bool isHttp2, ConnectionDelegate next)
    {
        var hasAgreed = connection.Features.Get<ITlsApplicationProtocolFeature>() is { } tls
            && tls.ApplicationProtocol.Span.SequenceEqual("h2"u8);
        if ((isHttp2 || hasAgreed) && connection.Features.Get<CallerConnection>() is { } caller)
        {
            caller.IsMetered = true;
            connection.Transport =
                new Metered(connection.Transport.Input, new AnswerMeter(connection.Transport.Output, caller.Sent));
        }
        return next(connection);
    }

    public void Dispose() => _looks.Dispose();

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

    private void Look()
    {
        foreach (var (caller, _) in _open)
        {
            caller.EndIfUnread();
        }
    }

    // Null if there is no memory for another connection of the address.
    private Address? Enter(IPAddress ip)
    {
        lock (_gate)
        {
            var address = _addresses.GetValueOrDefault(ip) ?? new Address();
            if (!_memory.Connections.TryTake(address.Connections, ProxyMemory.ConnectionBytes))
            {
                return null;
            }
            _addresses[ip] = address;
            return address;
        }
    }

    private void Leave(IPAddress ip, Address address)
    {
        lock (_gate)
        {
            _memory.Connections.Give(address.Connections, ProxyMemory.ConnectionBytes);
            if (address.Connections.Held == 0)
            {
                _addresses.Remove(ip);
            }
        }
    }

    private sealed class Address
    {
        public MemoryPart.Holder Connections { get; } = new();

        public MemoryPart.Holder Requests { get; } = new();
    }

    private sealed record Metered(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
