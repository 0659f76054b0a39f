using System.Net;
using System.Net.Http.Headers;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.UnitTests.Testing;
using Grpc.Core;
using Microsoft.AspNetCore.Authentication.JwtBearer;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>An address that sends many invalid tokens.</summary>
public sealed class InvalidTokenTests : IAsyncLifetime
{
    private const int Allowed = 3;

    private readonly TokenIssuer _stranger = TokenIssuer.New(TimeProvider.System);
    private readonly ManualTime _time = new();
    private SecureProxy _proxy = null!;
    private int _verified;

    public async ValueTask InitializeAsync()
    {
        _proxy = await SecureProxy.StartAsync(new() { ["Billing:Limits:InvalidTokensPerMinute"] = "3" }, _time);
        var checks = _proxy.Host.Services.GetRequiredService<IOptionsMonitor<JwtBearerOptions>>()
            .Get(JwtBearerDefaults.AuthenticationScheme).TokenValidationParameters;
        var keys = checks.IssuerSigningKeyResolver;
        checks.IssuerSigningKeyResolver = (token, read, id, parameters) =>
        {
            Interlocked.Increment(ref _verified);
            return keys(token, read, id, parameters);
        };
    }

    public ValueTask DisposeAsync()
    {
        _stranger.Dispose();
        return _proxy.DisposeAsync();
    }

    [Fact]
    public async Task Beyond_its_limit_an_address_is_refused_unread_and_known_callers_are_served()
    {
        var known = _proxy.Client(_proxy.Token("payments:write", "*/*"));
        await known.MakePaymentAsync(Samples.Payment());
        for (var i = 0; i < Allowed; i++)
        {
            Assert.Equal(ErrorReasons.TokenInvalid, (await RefusedAsync(Strange())).Reason());
        }
        var verified = Volatile.Read(ref _verified);
        Assert.InRange(verified, 1 + Allowed, int.MaxValue);

        var invalid = await RefusedAsync(Strange());
        var unknown = await RefusedAsync(_proxy.Token("payments:write", "*/*"));
        await known.MakePaymentAsync(Samples.Payment());

        Assert.All([invalid, unknown], refused =>
        {
            Assert.Equal(
                (StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached),
                (refused.StatusCode, refused.Reason()));
            Assert.Contains("Billing:Limits:InvalidTokensPerMinute", refused.Status.Detail, StringComparison.Ordinal);
            Assert.InRange(int.Parse(
                refused.Trailers.GetValue(Trailers.RetryPushback)!,
                System.Globalization.CultureInfo.InvariantCulture), 1, 60_000);
        });
        Assert.Equal(verified, Volatile.Read(ref _verified));
        Assert.Equal(2, _proxy.Backend.Commands.Count);
    }

    [Fact]
    public async Task A_caller_at_such_an_address_is_served_also_when_its_token_has_to_be_validated_again()
    {
        var known = _proxy.Client(_proxy.Token("payments:write", "*/*"));
        await known.MakePaymentAsync(Samples.Payment());
        for (var i = 0; i <= Allowed; i++)
        {
            await RefusedAsync(Strange());
        }
        var verified = Volatile.Read(ref _verified);
        _time.Advance(TimeSpan.FromMinutes(2));

        await known.MakePaymentAsync(Samples.Payment());

        Assert.InRange(Volatile.Read(ref _verified), verified + 1, int.MaxValue);
    }

    [Fact]
    public async Task Over_REST_it_is_429_with_the_time_to_wait_and_a_call_without_a_token_still_learns_what_it_lacks()
    {
        using var http = _proxy.Http();
        for (var i = 0; i < Allowed; i++)
        {
            Assert.Equal(HttpStatusCode.Unauthorized, (await GetAsync(http, "garbage")).StatusCode);
        }

        using var refused = await GetAsync(http, "garbage");
        using var none = await GetAsync(http, null);

        Assert.Equal(HttpStatusCode.TooManyRequests, refused.StatusCode);
        Assert.InRange(refused.Headers.RetryAfter!.Delta!.Value, TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(1));
        Assert.Equal(HttpStatusCode.Unauthorized, none.StatusCode);
    }

    private string Strange() => _stranger.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5));

    private Task<RpcException> RefusedAsync(string token) =>
        Assert.ThrowsAsync<RpcException>(() => _proxy.Client(token).MakePaymentAsync(Samples.Payment()).ResponseAsync);

    private Task<HttpResponseMessage> GetAsync(HttpClient http, string? token)
    {
        var request = new HttpRequestMessage(HttpMethod.Get, new Uri(_proxy.Rest, "/v1/accounts/VISA/acct-2/balance"));
        request.Headers.Authorization = token is null ? null : new AuthenticationHeaderValue("Bearer", token);
        return http.SendAsync(request, TestContext.Current.CancellationToken);
    }
}
