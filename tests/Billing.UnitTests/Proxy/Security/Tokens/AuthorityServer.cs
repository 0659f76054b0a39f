using Billing.Operator.Credentials;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Proxy.Security.Tokens;

/// <summary>An OpenID provider, at an address of this machine.</summary>
internal sealed class AuthorityServer : IAsyncDisposable
{
    private readonly WebApplication _app;
    private int _asked;

    private AuthorityServer(WebApplication app) => _app = app;

    public string Address => _app.Urls.Single();

    /// <summary>The key set that it publishes.</summary>
    public string Jwks { get; set; } = "";

    /// <summary>What it answers in place of its configuration; null for its configuration.</summary>
    public Func<HttpContext, Task>? Instead { get; set; }

    /// <summary>How often it was asked for its configuration.</summary>
    public int Asked => Volatile.Read(ref _asked);

    public static async Task<AuthorityServer> StartAsync(string jwks)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        var app = builder.Build();
        var server = new AuthorityServer(app) { Jwks = jwks };
        app.Run(server.AnswerAsync);
        await app.StartAsync();
        return server;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private Task AnswerAsync(HttpContext http)
    {
        if (http.Request.Path == "/keys")
        {
            return http.Response.WriteAsync(Jwks);
        }
        Interlocked.Increment(ref _asked);
        return Instead is { } instead ? instead(http)
            : http.Request.Path == "/.well-known/openid-configuration" ? WriteConfigurationAsync(http)
            : Task.FromException(new InvalidOperationException("Nobody asks for " + http.Request.Path));
    }

    private Task WriteConfigurationAsync(HttpContext http) =>
        http.Response.WriteAsync($$"""{"issuer":"{{TokenIssuer.Issuer}}","jwks_uri":"{{Address}}/keys"}""");
}
