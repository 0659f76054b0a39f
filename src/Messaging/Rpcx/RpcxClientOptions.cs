using System.ComponentModel.DataAnnotations;
using System.Globalization;

namespace Billing.Messaging.Rpcx;

/// <summary>How a client reaches and uses one server; section <c>Billing:Rpcx</c>.</summary>
public sealed class RpcxClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Rpcx";

    /// <summary>The server's address, <c>host:port</c>.</summary>
    [Required(ErrorMessage = "Billing:Rpcx:Address is missing; give the server's address, e.g. localhost:7070.")]
    public string Address { get; set; } = "";

    /// <summary>Connections that the calls are shared out over, in turn.</summary>
    [Range(1, 1_000, ErrorMessage = "Billing:Rpcx:Connections must be between 1 and 1000.")]
    public int Connections { get; set; } = 1;

    /// <summary>How long a connection may take to be made and greeted.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a call may take that does not say; <see cref="Timeout.InfiniteTimeSpan"/> for no bound.</summary>
    public TimeSpan TimeoutDefault { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>After a failed attempt to connect, how long calls fail at once before one tries again; it doubles with every
    /// further failure.</summary>
    public TimeSpan BackoffFirst { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>What the doubling stops at.</summary>
    public TimeSpan BackoffMax { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>The longest reply taken, in bytes; the server is told and fails a call whose reply is longer.</summary>
    [Range(64, 1 << 30, ErrorMessage = "Billing:Rpcx:FrameBytesMax must be between 64 and 1073741824.")]
    public int FrameBytesMax { get; set; } = 4 << 20;

    /// <summary>Bytes of one connection that may wait to be sent; further calls wait until the server has read on.</summary>
    [Range(1_024, 1 << 30, ErrorMessage = "Billing:Rpcx:OutputBytesMax must be between 1024 and 1073741824.")]
    public int OutputBytesMax { get; set; } = 1 << 20;

    /// <summary>What is wrong with the settings taken together, naming each.</summary>
    public IEnumerable<string> Problems()
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
            yield return $"Billing:Rpcx:TimeoutDefault ({TimeoutDefault}) must be above zero, or -00:00:00.0010000 for no bound.";
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

    /// <summary>Takes an address of the form <c>host:port</c> apart; the host of <c>[::1]:7070</c> is <c>::1</c>.</summary>
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
