using System.ComponentModel.DataAnnotations;
using System.Globalization;

namespace Billing.Rpc.Rpcx;

/// <summary>Settings of a client of one server; section <c>Billing:Rpcx</c>.</summary>
public sealed class RpcxClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Rpcx";

    /// <summary>The server's address, <c>host:port</c>.</summary>
    [Required(ErrorMessage = "is missing; give the server's address, e.g. localhost:7070.")]
    public string Address { get; set; } = "";

    /// <summary>Number of connections to the server; calls are distributed over them round-robin.</summary>
    [Range(1, 1_000)]
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
    [Range(64, 1 << 30)]
    public int FrameBytesMax { get; set; } = 4 << 20;

    /// <summary>Maximum number of unsent bytes per connection; above it, further calls wait until the server has read some of
    /// them.</summary>
    [Range(1_024, 1 << 30)]
    public int OutputBytesMax { get; set; } = 1 << 20;

    /// <summary>Returns one message for each invalid setting or combination of settings.</summary>
    public IEnumerable<string> ValidationErrors()
    {
        if (Address.Length > 0 && !TryReadAddress(Address, out _, out _))
        {
            yield return $"Billing:Rpcx:Address: '{Address}' is not of the form host:port.";
        }
        if (ConnectTimeout <= TimeSpan.Zero || ConnectTimeout > TimeSpan.FromHours(1))
        {
            yield return $"Billing:Rpcx:ConnectTimeout ({ConnectTimeout}) must be above zero and at most one hour.";
        }
        if (TimeoutDefault <= TimeSpan.Zero && TimeoutDefault != Timeout.InfiniteTimeSpan)
        {
            yield return $"Billing:Rpcx:TimeoutDefault ({TimeoutDefault}) must be above zero, or -00:00:00.0010000 for no limit.";
        }
        if (BackoffFirst <= TimeSpan.Zero || BackoffFirst > BackoffMax)
        {
            yield return $"Billing:Rpcx:BackoffFirst ({BackoffFirst}) must be above zero and at most Billing:Rpcx:BackoffMax ({BackoffMax}).";
        }
        if (BackoffMax > TimeSpan.FromHours(1))
        {
            yield return $"Billing:Rpcx:BackoffMax ({BackoffMax}) must be at most one hour.";
        }
    }

    /// <summary>Parses an address of the form <c>host:port</c>; the host of <c>[::1]:7070</c> is <c>::1</c>.</summary>
    internal static bool TryReadAddress(string address, out string host, out int port)
    {
        var colon = address.LastIndexOf(':');
        host = colon > 0 ? address[..colon].Trim('[', ']') : "";
        port = 0;
        return host.Length > 0
            && int.TryParse(address.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out port)
            && port is >= 0 and <= 65_535;
    }
}
