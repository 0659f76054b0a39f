using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Hosting;

namespace Billing.Proxy.Security.Tokens;

/// <summary>The keys of an OpenID provider: its configuration (OpenID Connect Discovery, section 4) tells its name
/// and where its key set is.</summary>
internal sealed class Authority : IKeySource
{
    private const string Configuration = "/.well-known/openid-configuration";
    private const int TextMax = 200;

    // Of each of the two documents.
    private const int BytesMax = 1024 * 1024;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly AuthOptions _options;
    private readonly HttpClient _http;
    private byte[] _seen = [];
    private PublishedKeys? _keys;

    public Authority(AuthOptions options, TimeProvider time)
    {
        _options = options;
        _http = new HttpClient(new SocketsHttpHandler
        {
            // So long may a connection lead to where the name no longer does.
            PooledConnectionLifetime = TimeSpan.FromMinutes(1),
            UseCookies = false,
            // The address of the keys is checked, and another one would not be.
            AllowAutoRedirect = false,
        })
        {
            Timeout = Patience,
            MaxResponseContentBufferSize = BytesMax,
        };
        _http.DefaultRequestHeaders.CacheControl = new CacheControlHeaderValue { NoCache = true };
        // A tenth more or less: proxies that were started together do not ask together.
        Interval = TimeSpan.FromSeconds(4.5 + new Random(unchecked((int)time.GetTimestamp())).NextDouble());
    }

    public string Name => $"{AuthOptions.Section}:{nameof(AuthOptions.Authority)} ('{_options.Authority}')";

    public TimeSpan Interval { get; }

    public int Every => 4;

    public async Task<PublishedKeys> ReadAsync()
    {
        var (issuer, address) = await ConfigurationAsync();
        var document = await _http.GetByteArrayAsync(address);
        if (_keys?.Issuer != issuer || !document.AsSpan().SequenceEqual(_seen))
        {
            _keys = new PublishedKeys(issuer, PublishedKeys.ReadKeys(document));
            _seen = document;
        }
        return _keys;
    }

    public void Dispose() => _http.Dispose();

    private async Task<(string Issuer, Uri Keys)> ConfigurationAsync()
    {
        using var json = JsonDocument.Parse(
            await _http.GetByteArrayAsync(new Uri(_options.Authority.TrimEnd('/') + Configuration)));
        var issuer = _options.Issuer.Length > 0 ? _options.Issuer : Text(json.RootElement, "issuer");
        var address = Text(json.RootElement, "jwks_uri");
        // Over TLS if the authority is asked over TLS, and otherwise on this machine.
        return AuthOptions.IsAuthority(address)
            && (!ServiceAddresses.HasTls(_options.Authority) || ServiceAddresses.HasTls(address))
                ? (issuer, new Uri(address))
                : throw new InvalidDataException(
                    $"Its keys are at '{UntrustedText.Printable(address, TextMax)}', which is not an address "
                    + "with TLS.");
    }

    private static string Text(JsonElement configuration, string name) =>
        configuration.ValueKind == JsonValueKind.Object && configuration.TryGetProperty(name, out var value)
        && value.ValueKind == JsonValueKind.String && value.GetString() is { Length: > 0 } text
            ? text
            : throw new InvalidDataException($"Its configuration has no {name}.");
}
