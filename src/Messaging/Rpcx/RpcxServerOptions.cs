using System.ComponentModel.DataAnnotations;
using System.Net;

namespace Billing.Messaging.Rpcx;

/// <summary>Where a server listens and what it takes on; section <c>Billing:Rpcx</c>.</summary>
public sealed class RpcxServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Rpcx";

    /// <summary>The address to listen on, <c>IP:port</c>; <c>*:port</c> is every address of the machine, and port 0 any free
    /// one. There is no encryption and no proof of who calls: listen where only the platform's own processes reach.</summary>
    [Required(ErrorMessage = "Billing:Rpcx:Listen is missing; give the address to listen on, e.g. 127.0.0.1:7070.")]
    public string Listen { get; set; } = "127.0.0.1:7070";

    /// <summary>Connections at the same time; the next one is closed.</summary>
    [Range(1, 1_000_000, ErrorMessage = "Billing:Rpcx:ConnectionsMax must be between 1 and 1000000.")]
    public int ConnectionsMax { get; set; } = 10_000;

    /// <summary>Calls of one connection that may be in flight at the same time. Clients are told and hold further calls back;
    /// from one that does not, nothing is read until a call has ended.</summary>
    [Range(1, 1_000_000, ErrorMessage = "Billing:Rpcx:InFlightMax must be between 1 and 1000000.")]
    public int InFlightMax { get; set; } = 10_000;

    /// <summary>The longest request taken, in bytes; a longer one closes its connection. Clients are told.</summary>
    [Range(64, 1 << 30, ErrorMessage = "Billing:Rpcx:FrameBytesMax must be between 64 and 1073741824.")]
    public int FrameBytesMax { get; set; } = 4 << 20;

    /// <summary>Bytes of one connection's replies that may wait to be sent; no further calls are read until its client has
    /// read on.</summary>
    [Range(1_024, 1 << 30, ErrorMessage = "Billing:Rpcx:OutputBytesMax must be between 1024 and 1073741824.")]
    public int OutputBytesMax { get; set; } = 1 << 20;

    /// <summary>How long a new connection may take to say hello.</summary>
    public TimeSpan HelloTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a server that was told to stop waits for the calls it has taken.</summary>
    public TimeSpan StopTimeout { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>What is wrong with the settings taken together, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (Listen.Length > 0 && !TryReadEndPoint(out _))
        {
            yield return $"Billing:Rpcx:Listen: '{Listen}' is not of the form IP:port.";
        }
        if (HelloTimeout <= TimeSpan.Zero || HelloTimeout > TimeSpan.FromHours(1))
        {
            yield return $"Billing:Rpcx:HelloTimeout ({HelloTimeout}) must be above zero and at most one hour.";
        }
        if (StopTimeout < TimeSpan.Zero || StopTimeout > TimeSpan.FromHours(1))
        {
            yield return $"Billing:Rpcx:StopTimeout ({StopTimeout}) must be between zero and one hour.";
        }
    }

    internal bool TryReadEndPoint(out IPEndPoint endPoint)
    {
        endPoint = new IPEndPoint(IPAddress.Any, 0);
        if (!RpcxClientOptions.TryReadAddress(Listen, out var host, out var port))
        {
            return false;
        }
        if (host == "*")
        {
            endPoint.Port = port;
            return true;
        }
        if (!IPAddress.TryParse(host == "localhost" ? "127.0.0.1" : host, out var address))
        {
            return false;
        }
        endPoint = new IPEndPoint(address, port);
        return true;
    }
}
