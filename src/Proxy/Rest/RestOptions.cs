using Billing.Hosting;

namespace Billing.Proxy.Rest;

/// <summary>The settings of the REST front; section <c>Billing:Rest</c>.</summary>
internal sealed class RestOptions
{
    public const string Section = "Billing:Rest";

    /// <summary>The address at which the proxy listens for HTTP/1.1, e.g. <c>http://localhost:5080</c>;
    /// empty for no REST front.</summary>
    public string Url { get; set; } = "";

    /// <summary>Whether a configuration has a REST front.</summary>
    public static bool IsOn(IConfiguration configuration) => configuration[Section + ":Url"] is { Length: > 0 };

    public IEnumerable<string> ValidationErrors(string? urls) =>
        Url.Length > 0 && ServiceAddresses.Problem(Url, urls) is { } problem ? [$"{Section}:Url: {problem}"] : [];
}
