using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Billing.Messaging.Hosting;

/// <summary>The addresses of a service that listens at one more than those of <c>Urls</c>. Without TLS nothing is negotiated,
/// so a port speaks either HTTP/1.1 or HTTP/2.</summary>
public static class ServiceAddresses
{
    /// <summary>The setting that lets a service listen where other machines reach it though it lets anybody in.</summary>
    public const string InsecureSetting = "Billing:Insecure";

    private const string DefaultUrls = "http://localhost:5000";

    /// <summary>Lets the service listen at a further address.</summary>
    public static void AlsoListen(this WebApplicationBuilder builder, string url)
    {
        var urls = builder.Configuration[WebHostDefaults.ServerUrlsKey];
        builder.WebHost.UseSetting(
            WebHostDefaults.ServerUrlsKey, (string.IsNullOrEmpty(urls) ? DefaultUrls : urls) + ";" + url);
    }

    /// <summary>Says what is spoken where.</summary>
    /// <param name="kestrel">The server.</param>
    /// <param name="protocols">What is spoken at the addresses of <c>Urls</c>.</param>
    /// <param name="further">The further addresses and what is spoken there.</param>
    /// <param name="each">What else is to be done to every address; null for nothing.</param>
    public static void UseProtocols(
        this KestrelServerOptions kestrel, HttpProtocols protocols, IEnumerable<(string Url, HttpProtocols Protocols)> further,
        Action<ListenOptions>? each = null)
    {
        var ports = further.ToDictionary(f => BindingAddress.Parse(f.Url).Port, f => f.Protocols);
        kestrel.ConfigureEndpointDefaults(endpoint =>
        {
            endpoint.Protocols = ports.GetValueOrDefault(endpoint.IPEndPoint?.Port ?? -1, protocols);
            each?.Invoke(endpoint);
        });
    }

    /// <summary>Sets the server up for many small calls on few HTTP/2 connections.</summary>
    public static void ServeManyCalls(this KestrelServerOptions kestrel, int streamsPerConnection)
    {
        kestrel.AddServerHeader = false;
        kestrel.Limits.Http2.MaxStreamsPerConnection = streamsPerConnection;
        // Windows for many small messages on one connection; the defaults stall a burst.
        kestrel.Limits.Http2.InitialConnectionWindowSize = 4 * 1024 * 1024;
        kestrel.Limits.Http2.InitialStreamWindowSize = 1024 * 1024;
    }

    /// <summary>What is wrong with a further address; null where it can be used.</summary>
    /// <param name="url">The address.</param>
    /// <param name="urls">The value of <c>Urls</c>.</param>
    public static string? Problem(string url, string? urls)
    {
        BindingAddress address;
        try
        {
            address = BindingAddress.Parse(url);
        }
        catch (FormatException)
        {
            return $"'{url}' is not of the form http://host:port.";
        }
        if (address.Scheme is not ("http" or "https") || address.PathBase.Length > 0)
        {
            return $"'{url}' is not of the form http://host:port.";
        }
        var others = string.IsNullOrEmpty(urls) ? DefaultUrls : urls;
        return others.Split(';').Any(other => PortOf(other) == address.Port)
            ? $"'{url}' has the same port as one of '{others}'; each needs a port of its own."
            : null;
    }

    /// <summary>Whether TLS is spoken at an address.</summary>
    public static bool HasTls(string url) => url.StartsWith("https:", StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether only programs on this machine reach an address. One that is malformed is for others to refuse.</summary>
    public static bool IsLoopback(string url)
    {
        try
        {
            var address = BindingAddress.Parse(url);
            return address.IsUnixPipe || address.Host.Equals("localhost", StringComparison.OrdinalIgnoreCase)
                || (IPAddress.TryParse(address.Host, out var ip) && IPAddress.IsLoopback(ip));
        }
        catch (FormatException)
        {
            return true;
        }
    }

    private static int? PortOf(string url)
    {
        try
        {
            return BindingAddress.Parse(url).Port;
        }
        catch (FormatException)
        {
            return null;
        }
    }
}
