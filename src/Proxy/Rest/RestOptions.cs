using Billing.Hosting;

namespace Billing.Proxy.Rest;

/// <summary>The settings of the REST front; section <c>Billing:Rest</c>.</summary>
public sealed class RestOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Rest";

    /// <summary>The address at which the proxy listens for HTTP/1.1, e.g. <c>http://localhost:5080</c>; empty for no REST front.
    /// </summary>
    public string Url { get; set; } = "";

    /// <summary>One message for each invalid setting, naming it.</summary>
    /// <param name="urls">The value of <c>Urls</c>, where the proxy listens for gRPC.</param>
    public IEnumerable<string> ValidationErrors(string? urls)
    {
        if (Url.Length > 0 && ServiceAddresses.Problem(Url, urls) is { } problem)
        {
            yield return "Billing:Rest:Url: " + problem;
        }
    }
}
