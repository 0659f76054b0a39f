using System.Net;

namespace Billing.Rpc.Rpcx;

/// <summary>Options of a server: its address and limits.</summary>
public sealed class RpcxServerOptions
{
    /// <summary>The address to listen on; port 0 means any free port. There is no encryption and no authentication: listen only
    /// where no other than the platform's processes can connect.</summary>
    public required IPEndPoint Listen { get; set; }

    /// <summary>Maximum number of open connections; a further one is closed at once.</summary>
    public int ConnectionsMax { get; set; } = 10_000;

    /// <summary>Maximum number of calls in flight per connection. It is sent to clients, which delay further calls; if a client
    /// does not, nothing is read from it until a call has ended.</summary>
    public int InFlightMax { get; set; } = 10_000;

    /// <summary>Maximum size of a request, in bytes; a larger one closes its connection. It is sent to clients.</summary>
    public int FrameBytesMax { get; set; } = 4 << 20;

    /// <summary>Maximum number of unsent bytes of replies per connection; above it, no further calls are read until the client
    /// has read some of them.</summary>
    public int OutputBytesMax { get; set; } = 1 << 20;

    /// <summary>Timeout for the greeting of a new client.</summary>
    public TimeSpan HelloTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a stopping server waits for the calls in flight.</summary>
    public TimeSpan StopTimeout { get; set; } = TimeSpan.FromSeconds(20);
}
