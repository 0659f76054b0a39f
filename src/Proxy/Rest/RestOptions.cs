using Billing.Messaging.Hosting;

namespace Billing.Proxy.Rest;

/// <summary>The REST front; section <c>Billing:Rest</c>.</summary>
public sealed class RestOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Rest";

    /// <summary>Where the proxy listens for HTTP/1.1, e.g. <c>http://localhost:5080</c>; empty: there is no REST front.
    /// </summary>
    public string Url { get; set; } = "";

    /// <summary>What is wrong with the settings, naming each.</summary>
    /// <param name="urls">The value of <c>Urls</c>, where the proxy listens for gRPC.</param>
    public IEnumerable<string> Problems(string? urls)
    {
        if (Url.Length > 0 && ServiceAddresses.Problem(Url, urls) is { } problem)
        {
            yield return "Billing:Rest:Url: " + problem;
        }
    }
}
