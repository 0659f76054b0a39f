using Billing.Hosting;
using Billing.Proxy.Security;

namespace Billing.Proxy.Hosting;

/// <summary>Who can reach a proxy: refuses to expose it without authentication or TLS at addresses that other
/// machines can reach.</summary>
internal static class Exposure
{
    /// <summary>One message for each address at which the proxy must not listen, naming the setting.</summary>
    public static IEnumerable<string> ValidationErrors(IConfiguration configuration, bool knowsCallers) =>
        configuration.GetValue<bool>(ServiceAddresses.InsecureSetting) ? [] : Open(configuration, knowsCallers)
            .Select(open =>
                $"{open}. "
                + $"Listen on a loopback address, set up {TlsOptions.Section} and {AuthOptions.Section}, or, "
                + $"on a network where everybody is trusted, set {ServiceAddresses.InsecureSetting}=true.");

    /// <summary>One sentence, without its end, for each address at which other machines reach the proxy without TLS or
    /// without having to say who they are.</summary>
    public static IEnumerable<string> Open(IConfiguration configuration, bool knowsCallers) =>
        Addresses(configuration)
            .Where(a => !ServiceAddresses.IsLoopback(a.Url) && !(knowsCallers && ServiceAddresses.HasTls(a.Url)))
            .Select(a =>
                $"{a.Setting}: '{a.Url}' may be reached from other machines, and the proxy "
                + Lack(a.Url, knowsCallers));

    private static string Lack(string url, bool knowsCallers) => (knowsCallers, ServiceAddresses.HasTls(url)) switch
    {
        (true, _) => "would accept tokens without TLS",
        (_, true) => "does not authenticate its callers",
        _ => "has no TLS and does not authenticate its callers",
    };

    /// <summary>The names under which the proxy may be asked. Where only this machine reaches it, these are the
    /// machine's own: otherwise a web page in its browser could call it under the page's own name, once that name has
    /// been changed to this machine's address.</summary>
    public static IList<string> Hosts(IConfiguration configuration) =>
        configuration["AllowedHosts"] is { Length: > 0 } names ? Split(names)
        : Addresses(configuration).All(a => ServiceAddresses.IsLoopback(a.Url)) ? ["localhost", "127.0.0.1", "[::1]"]
        : ["*"];

    /// <summary>The addresses at which the proxy is configured to listen, each with its setting.</summary>
    public static IEnumerable<(string Setting, string Url)> Addresses(IConfiguration configuration) =>
        Settings(configuration).SelectMany(s => Split(s.Urls).Select(url => (s.Setting, url))).DistinctBy(a => a.url);

    // Addresses from other settings have been added to Urls as well: they come first, so that they keep their
    // own setting's name.
    private static IEnumerable<(string Setting, string? Urls)> Settings(IConfiguration configuration) =>
    [
        .. ((string[])
        [
            Rest.RestOptions.Section + ":Url", AdminOptions.Section + ":Url", AdminOptions.Section + ":GrpcUrl",
        ])
            .Select(setting => (setting, configuration[setting])),
        ("Urls", configuration[WebHostDefaults.ServerUrlsKey]),
        // The server ignores ports if it is given addresses.
        .. string.IsNullOrEmpty(configuration[WebHostDefaults.ServerUrlsKey])
            ? [
                (WebHostDefaults.HttpPortsKey, AtAnyAddress("http", configuration[WebHostDefaults.HttpPortsKey])),
                (WebHostDefaults.HttpsPortsKey, AtAnyAddress("https", configuration[WebHostDefaults.HttpsPortsKey])),
            ]
            : Array.Empty<(string, string?)>(),
        .. configuration.GetSection("Kestrel:Endpoints").GetChildren()
            .Select(endpoint => ($"{endpoint.Path}:Url", endpoint["Url"])),
    ];

    private static string AtAnyAddress(string scheme, string? ports) =>
        string.Join(';', Split(ports).Select(port => $"{scheme}://*:{port}"));

    private static string[] Split(string? list) =>
        list?.Split(';', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries) ?? [];
}
