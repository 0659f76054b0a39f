using System.Net;
using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using Billing.Hosting;
using Billing.LocalStack.Processes;
using Billing.Operator.Credentials;
using Grpc.Net.Client;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>A proxy with TLS, tokens and an admin address, with a fake backend.</summary>
internal sealed class SecureProxy : IAsyncDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-secure-");
    private readonly CertificateAuthority _authority = new("Billing test CA", TimeProvider.System);
    private readonly List<GrpcChannel> _channels = [];
    private ProxyHost? _host;

    public FakeBackend Backend { get; } = new();

    public TokenIssuer Tokens { get; } = TokenIssuer.New(TimeProvider.System);

    public CertificateAuthority Authority => _authority;

    public ProxyHost Host => _host!;

    public string CertificateFile => Path.Combine(_folder.FullName, "server.pem");

    /// <summary>Where a list of revoked certificates may be.</summary>
    public string CrlFile => Path.Combine(_folder.FullName, "crl.pem");

    public string JwksFile => Path.Combine(_folder.FullName, "jwks.json");

    /// <summary>The certificate of its authority.</summary>
    public string CaFile => Path.Combine(_folder.FullName, "ca.pem");

    public Uri Grpc { get; private set; } = new("https://localhost");

    public Uri Rest { get; private set; } = new("https://localhost");

    public Uri Admin { get; private set; } = new("https://localhost");

    public static async Task<SecureProxy> StartAsync(
        Dictionary<string, string?>? settings = null, TimeProvider? time = null, bool tokens = true,
        Func<SecureProxy, byte[]>? revoked = null, ILoggerProvider? logs = null, string? jwks = null,
        string? ca = null, MemoryBudget? memory = null)
    {
        var proxy = new SecureProxy();
        using var ports = new FreePorts();
        proxy.Grpc = new Uri($"https://localhost:{ports.Take()}");
        proxy.Rest = new Uri($"https://localhost:{ports.Take()}");
        proxy.Admin = new Uri($"https://localhost:{ports.Take()}");
        await File.WriteAllTextAsync(proxy.CertificateFile, proxy._authority.Server("proxy"));
        await File.WriteAllTextAsync(proxy.JwksFile, jwks ?? proxy.Tokens.Jwks);
        await File.WriteAllTextAsync(proxy.CaFile, ca ?? proxy._authority.Pem);
        var all = new Dictionary<string, string?>
        {
            ["urls"] = Text(proxy.Grpc),
            ["Billing:Rest:Url"] = Text(proxy.Rest),
            ["Billing:Admin:Url"] = Text(proxy.Admin),
            ["Billing:Tls:CertificateFile"] = proxy.CertificateFile,
            ["Billing:Tls:ClientCaFile"] = proxy.CaFile,
        };
        if (revoked is not null)
        {
            await File.WriteAllBytesAsync(proxy.CrlFile, revoked(proxy));
            all["Billing:Tls:ClientCrlFile"] = proxy.CrlFile;
        }
        if (tokens)
        {
            all["Billing:Auth:JwksFile"] = proxy.JwksFile;
            all["Billing:Auth:Issuer"] = TokenIssuer.Issuer;
            all["Billing:Auth:Audience"] = TokenIssuer.Audience;
        }
        foreach (var (name, value) in settings ?? [])
        {
            all[name] = value;
        }
        try
        {
            proxy._host = await ProxyHost.StartAsync(
                proxy.Backend, time: time, settings: all, logs: logs, memory: memory);
            return proxy;
        }
        catch
        {
            await proxy.DisposeAsync();
            throw;
        }
    }

    /// <summary>Settings that let callers with a certificate of one of these names pay, from any account.</summary>
    public static Dictionary<string, string?> Listed(params string[] names) => names
        .SelectMany(name => new[] { ("Accounts", "*/*"), ("Scopes", "payments:write") }, (name, setting) =>
            ($"Billing:Auth:Certificates:{name}:{setting.Item1}", setting.Item2))
        .ToDictionary(pair => pair.Item1, pair => (string?)pair.Item2);

    /// <summary>A handler that trusts the test's authority and presents the given client certificate, if any.</summary>
    public SocketsHttpHandler Handler(string? clientPem = null, Action<X509Certificate2>? seen = null)
    {
        var handler = new SocketsHttpHandler
        {
            SslOptions = new SslClientAuthenticationOptions
            {
                RemoteCertificateValidationCallback = (_, certificate, _, _) =>
                {
                    using var chain = new X509Chain();
                    chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
                    chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
                    chain.ChainPolicy.CustomTrustStore.Add(X509Certificate2.CreateFromPem(_authority.Pem));
                    seen?.Invoke((X509Certificate2)certificate!);
                    return chain.Build((X509Certificate2)certificate!);
                },
            },
        };
        if (clientPem is not null)
        {
            // Offline: it does not look for the issuers of its certificate either.
            handler.SslOptions.ClientCertificateContext = SslStreamCertificateContext.Create(
                X509Certificate2.CreateFromPem(clientPem, clientPem), additionalCertificates: null, offline: true);
        }
        return handler;
    }

    public GrpcChannel Channel(Uri? address = null, string? token = null, string? clientPem = null)
    {
        var http = new HttpClient(Handler(clientPem));
        if (token is not null)
        {
            http.DefaultRequestHeaders.TryAddWithoutValidation("authorization", "Bearer " + token);
        }
        var channel = GrpcChannel.ForAddress(
            address ?? Grpc, new GrpcChannelOptions { HttpClient = http, DisposeHttpClient = true });
        _channels.Add(channel);
        return channel;
    }

    public V1.BillingService.BillingServiceClient Client(string? token = null, string? clientPem = null) =>
        new(Channel(token: token, clientPem: clientPem));

    /// <summary>A token with the given scopes and accounts.</summary>
    public string Token(string scopes, params string[] accounts) =>
        Tokens.Issue("somebody", scopes.Split(' '), accounts, TimeSpan.FromMinutes(5));

    public HttpClient Http(string? token = null)
    {
        var http = new HttpClient(Handler()) { DefaultRequestVersion = HttpVersion.Version11 };
        if (token is not null)
        {
            http.DefaultRequestHeaders.TryAddWithoutValidation("authorization", "Bearer " + token);
        }
        return http;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var channel in _channels)
        {
            channel.Dispose();
        }
        if (_host is not null)
        {
            await _host.DisposeAsync();
        }
        _authority.Dispose();
        Tokens.Dispose();
        _folder.Delete(recursive: true);
    }

    private static string Text(Uri address) => address.ToString().TrimEnd('/');
}
