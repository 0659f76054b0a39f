using System.Buffers.Text;
using System.Security.Cryptography;
using Microsoft.Net.Http.Headers;

namespace Billing.Proxy.Live;

/// <summary>The files of the live page, which are embedded in the program.</summary>
internal static class LiveAssets
{
    // Nothing from other origins, nothing inline, and no other page may frame it.
    private const string Policy =
        "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'";

    private const string Prefix = "Billing.Proxy.Live.Page.";

    private static readonly Dictionary<string, string> Types = new(StringComparer.Ordinal)
    {
        ["html"] = "text/html; charset=utf-8",
        ["css"] = "text/css; charset=utf-8",
        ["js"] = "text/javascript; charset=utf-8",
        ["svg"] = "image/svg+xml",
    };

    public static IReadOnlyList<Asset> All { get; } =
    [
        .. typeof(LiveAssets).Assembly.GetManifestResourceNames()
            .Where(name => name.StartsWith(Prefix, StringComparison.Ordinal))
            .Select(name => Load(name[Prefix.Length..])),
    ];

    private static Asset Load(string name)
    {
        using var stream = typeof(LiveAssets).Assembly.GetManifestResourceStream(Prefix + name)!;
        var content = new byte[stream.Length];
        stream.ReadExactly(content);
        return new Asset(
            name, Types[name.Split('.')[^1]], content,
            $"\"{Base64Url.EncodeToString(SHA256.HashData(content).AsSpan(0, 12))}\"");
    }

    internal sealed record Asset(string Name, string Type, byte[] Content, string Tag)
    {
        /// <summary>Answers with the file, or with 304 if it has not changed.</summary>
        public IResult Answer(HttpContext http)
        {
            var headers = http.Response.Headers;
            headers.ContentSecurityPolicy = Policy;
            headers["Referrer-Policy"] = "no-referrer";
            // Cached but revalidated each time, so that a new version of the proxy takes effect at once.
            headers.CacheControl = "no-cache";
            return Results.Bytes(Content, Type, entityTag: new EntityTagHeaderValue(Tag));
        }
    }
}
