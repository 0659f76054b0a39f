using Billing.Hosting;

namespace Billing.Proxy.Security;

/// <summary>The addresses at which a proxy serves the operators of the platform; section <c>Billing:Admin</c>. If
/// callers have to authenticate, the endpoints for operators (the admin service, the live page, metrics) are
/// served only there.</summary>
internal sealed class AdminOptions
{
    public const string Section = "Billing:Admin";

    /// <summary>The address for HTTP/1.1, e.g. <c>http://localhost:5090</c>; an address that begins with <c>https</c>
    /// serves gRPC too. Empty for none.</summary>
    public string Url { get; set; } = "";

    /// <summary>The address for gRPC, needed if <see cref="Url"/> has no TLS; empty for none.</summary>
    public string GrpcUrl { get; set; } = "";

    /// <summary>The addresses that are set.</summary>
    public IEnumerable<string> Addresses => new[] { Url, GrpcUrl }.Where(url => url.Length > 0);

    public IEnumerable<string> ValidationErrors(string? urls) => new[]
    {
        Url.Length > 0 && ServiceAddresses.Problem(Url, urls) is { } problem ? $"{Section}:Url: {problem}" : null,
        GrpcUrl.Length > 0 && ServiceAddresses.Problem(GrpcUrl, Url.Length > 0 ? $"{urls};{Url}" : urls) is { } other
            ? $"{Section}:GrpcUrl: {other}" : null,
    }.OfType<string>();
}
