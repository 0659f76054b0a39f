namespace Billing.Client;

/// <summary>An address of the form <c>dns:///name:port</c>.</summary>
internal static class ProxyName
{
    private const string Prefix = "dns:///";

    public static bool Is(string address) => address.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns the address of the proxies behind the name; null if it is not valid.</summary>
    public static Uri? Parse(string address, bool isPlaintext) =>
        Uri.TryCreate($"{(isPlaintext ? "http" : "https")}://{address[Prefix.Length..]}", UriKind.Absolute, out var uri)
        && uri.Host.Length > 0 && uri is { PathAndQuery: "/", UserInfo: "" }
            ? uri
            : null;
}
