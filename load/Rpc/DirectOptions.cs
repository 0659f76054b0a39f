using System.ComponentModel.DataAnnotations;
using System.Net;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;

namespace Billing.Rpc;

/// <summary>The protocol of the direct transport between proxies and backends.</summary>
public enum DirectProtocol
{
    /// <summary>gRPC: the service Backend of backend.proto.</summary>
    Grpc,

    /// <summary>A lightweight RPC protocol: protobuf frames over TCP.</summary>
    Rpcx,
}

/// <summary>Settings of the direct transport; section <c>Billing:Direct</c>.</summary>
public sealed class DirectOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Direct";

    /// <summary><c>grpc</c> or <c>rpcx</c>, the same for proxies and backends.</summary>
    public string Protocol { get; set; } = "grpc";

    /// <summary>For a proxy: the addresses of all backends, <c>host:port</c>, separated by commas, the same for every
    /// proxy, in any order.</summary>
    public string Backends { get; set; } = "";

    /// <summary>For a backend: the address on which it listens for commands, <c>host:port</c>.</summary>
    public string Listen { get; set; } = "";

    /// <summary>Timeout of a proxy for connecting to a backend.</summary>
    [TimeRange("00:00:00", "00:01:00", MinimumIsExclusive = true)]
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Maximum number of concurrent calls on one HTTP/2 connection to a backend.</summary>
    [Range(1, 100_000)]
    public int StreamsPerConnection { get; set; } = 1000;

    /// <summary>The protocol; <c>null</c> if the setting is not a known protocol.</summary>
    public DirectProtocol? KnownProtocol => Protocol.ToUpperInvariant() switch
    {
        "GRPC" => DirectProtocol.Grpc,
        "RPCX" => DirectProtocol.Rpcx,
        _ => null,
    };

    /// <summary>The addresses of the backends.</summary>
    public IReadOnlyList<string> BackendAddresses =>
        Backends.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

    /// <summary>Returns one message for each invalid setting of a proxy.</summary>
    public IEnumerable<string> ProxyProblems()
    {
        var addresses = BackendAddresses;
        if (addresses.Count == 0)
        {
            yield return "Billing:Direct:Backends is missing; give the backends' addresses, e.g. "
                + "localhost:6000,localhost:6001.";
        }
        foreach (var address in addresses.Where(a => !KafkaOptions.IsAddress(a)))
        {
            yield return $"Billing:Direct:Backends: '{address}' is not of the form host:port.";
        }
        foreach (var address in addresses.GroupBy(a => a, StringComparer.OrdinalIgnoreCase).Where(g => g.Count() > 1))
        {
            yield return $"Billing:Direct:Backends: '{address.Key}' is listed {address.Count()} times.";
        }
        foreach (var problem in ProtocolProblems())
        {
            yield return problem;
        }
    }

    /// <summary>Returns one message for each invalid setting of a backend.</summary>
    public IEnumerable<string> BackendProblems()
    {
        if (Listen.Length == 0)
        {
            yield return "Billing:Direct:Listen is missing; give the address on which this backend listens, e.g. "
                + "0.0.0.0:6000.";
        }
        else if (!KafkaOptions.IsAddress(Listen))
        {
            yield return $"Billing:Direct:Listen: '{Listen}' is not of the form host:port.";
        }
        else if (KnownProtocol == DirectProtocol.Rpcx && ListenEndPoint() is null)
        {
            yield return $"Billing:Direct:Listen: '{Listen}' is not of the form IP:port, which rpcx needs.";
        }
        foreach (var problem in ProtocolProblems())
        {
            yield return problem;
        }
    }

    /// <summary>Returns the address to listen on without Kestrel, which also takes names; null if it is not of the form
    /// <c>IP:port</c>.</summary>
    internal IPEndPoint? ListenEndPoint()
    {
        var port = Listen[(Listen.LastIndexOf(':') + 1)..];
        var address =
            Listen == "*:" + port ? "0.0.0.0:" + port : Listen == "localhost:" + port ? "127.0.0.1:" + port : Listen;
        return IPEndPoint.TryParse(address, out var endPoint) ? endPoint : null;
    }

    private IEnumerable<string> ProtocolProblems() => KnownProtocol is null
        ? [$"Billing:Direct:Protocol must be grpc or rpcx; it is '{Protocol}'."]
        : [];
}
