using Billing.Messaging.Hosting;

namespace Billing.Proxy.Security;

/// <summary>Where a proxy serves those who operate the platform; section <c>Billing:Admin</c>. Once callers have to say who
/// they are, what operators use (the admin service, the page, metrics) is served there and nowhere else.</summary>
public sealed class AdminOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Admin";

    /// <summary>The address for HTTP/1.1, e.g. <c>http://localhost:5090</c>; one that begins with <c>https</c> serves gRPC
    /// too. Empty: there is none.</summary>
    public string Url { get; set; } = "";

    /// <summary>The address for gRPC where <see cref="Url"/> has no TLS; empty: there is none.</summary>
    public string GrpcUrl { get; set; } = "";

    /// <summary>The addresses that there are.</summary>
    public IEnumerable<string> Addresses => new[] { Url, GrpcUrl }.Where(url => url.Length > 0);

    /// <summary>What is wrong with the settings, naming each.</summary>
    /// <param name="urls">The addresses where the proxy listens for others, with semicolons between.</param>
    public IEnumerable<string> Problems(string? urls)
    {
        if (Url.Length > 0 && ServiceAddresses.Problem(Url, urls) is { } problem)
        {
            yield return $"{Section}:Url: {problem}";
        }
        if (GrpcUrl.Length > 0 && ServiceAddresses.Problem(GrpcUrl, Url.Length > 0 ? $"{urls};{Url}" : urls) is { } other)
        {
            yield return $"{Section}:GrpcUrl: {other}";
        }
    }
}
