using System.Net;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Authentication.JwtBearer;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Where a proxy gets the keys of its token issuer.</summary>
public sealed class TokenCallersTests
{
    private readonly List<string> _asked = [];

    [Theory]
    [InlineData("https://login.example", "https://keys.example/keys", true)]
    [InlineData("https://login.example", "http://keys.example/keys", false)]
    [InlineData("http://localhost:8080", "http://localhost:8080/keys", true)]
    public async Task The_keys_of_an_authority_with_TLS_are_read_only_over_TLS(
        string authority, string keys, bool areRead)
    {
        using var provider = new Provider(_asked, $$"""{"issuer":"{{authority}}","jwks_uri":"{{keys}}"}""");
        var bearer = new JwtBearerOptions { BackchannelHttpHandler = provider };
        using var callers = new TokenCallers(
            Options.Create(new AuthOptions { Authority = authority, Audience = "a" }),
            TimeProvider.System, NullLogger<TokenCallers>.Instance);
        callers.Configure(bearer);
        new JwtBearerPostConfigureOptions().PostConfigure(JwtBearerDefaults.AuthenticationScheme, bearer);

        var failure = await Record.ExceptionAsync(
            () => bearer.ConfigurationManager!.GetConfigurationAsync(CancellationToken.None));

        Assert.Equal(areRead, failure is null);
        Assert.Equal(areRead, _asked.Contains(keys));
    }

    private sealed class Provider(List<string> asked, string configuration) : HttpMessageHandler
    {
        protected override Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request, CancellationToken cancellationToken)
        {
            var address = request.RequestUri!.ToString();
            asked.Add(address);
            var isConfiguration = address.EndsWith("/.well-known/openid-configuration", StringComparison.Ordinal);
            return Task.FromResult(new HttpResponseMessage(HttpStatusCode.OK)
            {
                Content = new StringContent(isConfiguration ? configuration : """{"keys":[]}"""),
            });
        }
    }
}
