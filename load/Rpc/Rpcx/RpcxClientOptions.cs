namespace Billing.Rpc.Rpcx;

/// <summary>Options of a client of one server.</summary>
public sealed class RpcxClientOptions
{
    /// <summary>The server's address, <c>host:port</c>.</summary>
    public required string Address { get; set; }

    /// <summary>Number of connections to the server; calls are distributed over them round-robin.</summary>
    public int Connections { get; set; } = 1;

    /// <summary>Timeout for opening a connection, including the handshake.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Timeout of calls that do not set one; <see cref="Timeout.InfiniteTimeSpan"/> for no limit.</summary>
    public TimeSpan TimeoutDefault { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Back-off after the first failed attempt to connect. Calls fail immediately until it has passed; it doubles
    /// with every further failure.</summary>
    public TimeSpan BackoffFirst { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Maximum back-off.</summary>
    public TimeSpan BackoffMax { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Maximum size of a reply, in bytes; it is sent to the server, which fails a call whose reply is larger.</summary>
    public int FrameBytesMax { get; set; } = 4 << 20;

    /// <summary>Maximum number of unsent bytes per connection; above it, further calls wait until the server has read some of
    /// them.</summary>
    public int OutputBytesMax { get; set; } = 1 << 20;
}
