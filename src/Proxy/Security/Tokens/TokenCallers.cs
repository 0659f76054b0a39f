using System.Security.Claims;
using System.Text.Encodings.Web;
using Billing.Proxy.Failures;
using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Tokens;

/// <summary>Authenticates a caller by its token, sent as <c>authorization: Bearer</c>.</summary>
internal sealed class TokenCallers(
    SigningKeys keys, TokenRules rules, RememberedTokens remembered, InvalidTokens invalid,
    IOptionsMonitor<AuthenticationSchemeOptions> options, ILoggerFactory loggers, UrlEncoder encoder)
    : AuthenticationHandler<AuthenticationSchemeOptions>(options, loggers, encoder)
{
    /// <summary>The scheme's name.</summary>
    public const string SchemeName = "Bearer";

    private const string Prefix = SchemeName + " ";

    protected override async Task<AuthenticateResult> HandleAuthenticateAsync()
    {
        var header = Request.Headers.Authorization.ToString();
        // The header may have any number of spaces before the token.
        var text = header.StartsWith(Prefix, StringComparison.OrdinalIgnoreCase) ? header[Prefix.Length..].Trim() : "";
        if (text.Length == 0)
        {
            return AuthenticateResult.NoResult();
        }
        if (remembered.Find(text) is not { } caller)
        {
            var verified = await VerifyAsync(text);
            if (verified.Failure is { } failure)
            {
                return AuthenticateResult.Fail(new FailureException(failure));
            }
            remembered.Add(text, caller = verified.Value);
        }
        return AuthenticateResult.Success(new AuthenticationTicket(new ClaimsPrincipal(caller), SchemeName));
    }

    private async Task<Outcome<Caller>> VerifyAsync(string text)
    {
        if (TokenRules.Read(text) is not { } token)
        {
            return TokenRules.Invalid("It is not a token.");
        }
        if (rules.Problem(token, keys.Issuer) is { } problem)
        {
            return problem;
        }
        var found = await keys.FindAsync(token.Kid, token.Alg, Context.RequestAborted);
        if (found.Failure is { } unavailable)
        {
            return unavailable;
        }
        if (found.Value.Length == 0)
        {
            return TokenRules.Invalid("The issuer of tokens has no key like the one that the token names.");
        }
        var permit = invalid.Take(Context, TokenRules.IdOf(token));
        if (permit.Failure is { } tooMany)
        {
            return tooMany;
        }
        foreach (var key in found.Value)
        {
            if (await rules.IsSignedWithAsync(token, key, keys.Issuer!))
            {
                var caller = rules.CallerOf(token, key);
                if (caller.Failure is null)
                {
                    permit.Value.WasForValidToken();
                }
                return caller;
            }
        }
        return TokenRules.Invalid("The token is invalid: this platform does not trust it.");
    }
}
