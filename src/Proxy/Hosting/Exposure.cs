using Billing.Messaging.Hosting;
using Billing.Proxy.Security;

namespace Billing.Proxy.Hosting;

/// <summary>Keeps a proxy that lets anybody in from addresses that other machines reach.</summary>
internal static class Exposure
{
    /// <summary>What is wrong with the addresses of a proxy, naming each.</summary>
    /// <param name="configuration">The settings of the service.</param>
    /// <param name="knowsCallers">Whether callers have to say who they are.</param>
    public static IEnumerable<string> Problems(IConfiguration configuration, bool knowsCallers) =>
        configuration.GetValue<bool>(ServiceAddresses.InsecureSetting) ? [] : Addresses(configuration)
            .Where(a => !ServiceAddresses.IsLoopback(a.Url) && !(knowsCallers && ServiceAddresses.HasTls(a.Url)))
            .Select(a => $"{a.Setting}: '{a.Url}' may be reached from other machines, and the proxy {Lack(a.Url, knowsCallers)}. "
                + $"Listen on a loopback address, set up {TlsOptions.Section} and {AuthOptions.Section}, or, on a network where everybody is trusted, set {ServiceAddresses.InsecureSetting}=true.");

    private static string Lack(string url, bool knowsCallers) => (knowsCallers, ServiceAddresses.HasTls(url)) switch
    {
        (true, _) => "would take tokens without TLS",
        (_, true) => "does not ask who its callers are",
        _ => "has no TLS and does not ask who its callers are",
    };

    /// <summary>Where the proxy is told to listen, and by which setting.</summary>
    public static IEnumerable<(string Setting, string Url)> Addresses(IConfiguration configuration) =>
        Settings(configuration).SelectMany(s => Split(s.Urls).Select(url => (s.Setting, url))).DistinctBy(a => a.url);

    // The further addresses have been added to Urls: they come first, to be called by their own names.
    private static IEnumerable<(string Setting, string? Urls)> Settings(IConfiguration configuration) =>
    [
        .. ((string[])[Rest.RestOptions.Section + ":Url", AdminOptions.Section + ":Url", AdminOptions.Section + ":GrpcUrl"])
            .Select(setting => (setting, configuration[setting])),
        ("Urls", configuration[WebHostDefaults.ServerUrlsKey]),
        // The server passes over ports where it is given addresses.
        .. string.IsNullOrEmpty(configuration[WebHostDefaults.ServerUrlsKey])
            ? [
                (WebHostDefaults.HttpPortsKey, AtAnyAddress("http", configuration[WebHostDefaults.HttpPortsKey])),
                (WebHostDefaults.HttpsPortsKey, AtAnyAddress("https", configuration[WebHostDefaults.HttpsPortsKey])),
            ]
            : Array.Empty<(string, string?)>(),
        .. configuration.GetSection("Kestrel:Endpoints").GetChildren().Select(endpoint => ($"{endpoint.Path}:Url", endpoint["Url"])),
    ];

    private static string AtAnyAddress(string scheme, string? ports) =>
        string.Join(';', Split(ports).Select(port => $"{scheme}://*:{port}"));

    private static string[] Split(string? list) =>
        list?.Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries) ?? [];
}
