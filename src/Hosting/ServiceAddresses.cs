using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Billing.Hosting;

/// <summary>The addresses of a service that listens at others in addition to those of <c>Urls</c>.
/// Without TLS the protocol is not negotiated, so a port supports either HTTP/1.1 or HTTP/2.</summary>
public static class ServiceAddresses
{
    /// <summary>The setting that allows a service to listen at an address that other machines can reach although it
    /// does not authenticate its callers.</summary>
    public const string InsecureSetting = "Billing:Insecure";

    // Kestrel's own: bytes per second that a request or an answer must make, and for how long it may be behind. On a
    // machine with less processor than work either side may pause for longer than its 5 s, and every call of the
    // connection would be lost.
    private static readonly MinDataRate SlowestRate = new(bytesPerSecond: 240, gracePeriod: TimeSpan.FromMinutes(1));

    private const string DefaultUrls = "http://localhost:5000";

    /// <summary>Makes the service listen at a further address.</summary>
    public static void AlsoListen(this WebApplicationBuilder builder, string url)
    {
        var urls = builder.Configuration[WebHostDefaults.ServerUrlsKey];
        builder.WebHost.UseSetting(
            WebHostDefaults.ServerUrlsKey, (string.IsNullOrEmpty(urls) ? DefaultUrls : urls) + ";" + url);
    }

    /// <summary>Sets the HTTP protocols at the addresses of <c>Urls</c> and at the further addresses, and configures
    /// every address with <paramref name="each"/>.</summary>
    public static void UseProtocols(
        this KestrelServerOptions kestrel, HttpProtocols protocols,
        IEnumerable<(string Url, HttpProtocols Protocols)> further, Action<ListenOptions>? each = null)
    {
        var ports = further.ToDictionary(f => BindingAddress.Parse(f.Url).Port, f => f.Protocols);
        kestrel.ConfigureEndpointDefaults(endpoint =>
        {
            endpoint.Protocols = ports.GetValueOrDefault(endpoint.IPEndPoint?.Port ?? -1, protocols);
            each?.Invoke(endpoint);
        });
    }

    /// <summary>Configures the server for many small calls on few HTTP/2 connections.</summary>
    public static void ServeManyCalls(this KestrelServerOptions kestrel, int streamsPerConnection)
    {
        kestrel.AddServerHeader = false;
        kestrel.Limits.MinRequestBodyDataRate = SlowestRate;
        kestrel.Limits.MinResponseDataRate = SlowestRate;
        kestrel.Limits.Http2.MaxStreamsPerConnection = streamsPerConnection;
        // Flow-control windows for many small messages on one connection; the defaults stall bursts.
        kestrel.Limits.Http2.InitialConnectionWindowSize = 4 * 1024 * 1024;
        kestrel.Limits.Http2.InitialStreamWindowSize = 1024 * 1024;
    }

    /// <summary>Returns the error in an address in addition to those in <c>Urls</c>; null if it is valid.</summary>
    public static string? Problem(string url, string? urls)
    {
        if (Parse(url) is not { Scheme: "http" or "https", PathBase.Length: 0 } address)
        {
            return $"'{url}' is not of the form http://host:port.";
        }
        var others = string.IsNullOrEmpty(urls) ? DefaultUrls : urls;
        return others.Split(';').Any(other => Parse(other)?.Port == address.Port)
            ? $"'{url}' has the same port as one of '{others}'; each needs a port of its own."
            : null;
    }

    /// <summary>Whether an address uses TLS.</summary>
    public static bool HasTls(string url) => url.StartsWith("https:", StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether only programs on this machine can reach an address. Also true for a malformed address,
    /// which other code refuses.</summary>
    public static bool IsLoopback(string url) => Parse(url) is not { } address || address.IsUnixPipe
        || address.Host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
        || (IPAddress.TryParse(address.Host, out var ip) && IPAddress.IsLoopback(ip));

    private static BindingAddress? Parse(string url)
    {
        try
        {
            return BindingAddress.Parse(url);
        }
        catch (FormatException)
        {
            return null;
        }
    }
}
