using System.ComponentModel.DataAnnotations;
using System.Net;

namespace Billing.Rpc.Rpcx;

/// <summary>Settings of a server: its address and limits; section <c>Billing:Rpcx</c>.</summary>
public sealed class RpcxServerOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Rpcx";

    /// <summary>The address to listen on, <c>IP:port</c>; <c>*:port</c> means every address of the machine, and port 0 any free
    /// port. There is no encryption and no authentication: listen only where no other than the platform's processes can
    /// connect.</summary>
    [Required(ErrorMessage = "is missing; give the address to listen on, e.g. 127.0.0.1:7070.")]
    public string Listen { get; set; } = "127.0.0.1:7070";

    /// <summary>Maximum number of open connections; a further one is closed at once.</summary>
    [Range(1, 1_000_000)]
    public int ConnectionsMax { get; set; } = 10_000;

    /// <summary>Maximum number of calls in flight per connection. It is sent to clients, which delay further calls; if a client
    /// does not, nothing is read from it until a call has ended.</summary>
    [Range(1, 1_000_000)]
    public int InFlightMax { get; set; } = 10_000;

    /// <summary>Maximum size of a request, in bytes; a larger one closes its connection. It is sent to clients.</summary>
    [Range(64, 1 << 30)]
    public int FrameBytesMax { get; set; } = 4 << 20;

    /// <summary>Maximum number of unsent bytes of replies per connection; above it, no further calls are read until the client
    /// has read some of them.</summary>
    [Range(1_024, 1 << 30)]
    public int OutputBytesMax { get; set; } = 1 << 20;

    /// <summary>Timeout for the greeting of a new client.</summary>
    public TimeSpan HelloTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a stopping server waits for the calls in flight.</summary>
    public TimeSpan StopTimeout { get; set; } = TimeSpan.FromSeconds(20);

    /// <summary>Returns one message for each invalid setting or combination of settings.</summary>
    public IEnumerable<string> ValidationErrors()
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
