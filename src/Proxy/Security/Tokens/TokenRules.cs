using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Proxy.Failures;
using Grpc.Core;
using Microsoft.Extensions.Options;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

namespace Billing.Proxy.Security.Tokens;

/// <summary>What a token must say. All of it can be read without the token's key, and is checked before the signature,
/// which costs a hundred times as much.</summary>
internal sealed class TokenRules(IOptions<AuthOptions> options, TimeProvider time)
{
    private readonly AuthOptions _options = options.Value;
    private readonly JsonWebTokenHandler _handler = new();

    /// <summary>The failure of a token that is not accepted.</summary>
    public static Failure Invalid(string why) => new(StatusCode.Unauthenticated, ErrorReasons.TokenInvalid, why);

    /// <summary>Reads a token; null if it is none.</summary>
    public static JsonWebToken? Read(string text)
    {
        try
        {
            return new JsonWebToken(text);
        }
        catch (Exception e) when (IsMalformed(e))
        {
            return null;
        }
    }

    /// <summary>Why a token is not accepted, whoever has signed it; null if nothing speaks against it.</summary>
    /// <param name="token">The token.</param>
    /// <param name="issuer">The issuer that it must have; null if that is not known yet.</param>
    public Failure? Problem(JsonWebToken token, string? issuer)
    {
        try
        {
            return token.IsEncrypted || !SigningKey.Algorithms.Contains(token.Alg)
                    ? Invalid("The token is not signed as tokens have to be, with the private key of its issuer.")
                : !IsAccessToken(token.Typ) ? Invalid("The token is not one for access.")
                // RFC 7515, section 4.1.11: what must be understood is not understood here.
                : token.TryGetHeaderValue("crit", out object _)
                    ? Invalid("The token's header has extensions that this platform does not know.")
                : issuer is not null && token.Issuer != issuer ? Invalid("The token is of another issuer.")
                : !token.Audiences.Contains(_options.Audience) ? Invalid("The token is for another audience.")
                : ProblemOfTime(token);
        }
        catch (Exception e) when (IsMalformed(e))
        {
            return Invalid("The token's claims are not of the kind that they should be.");
        }
    }

    /// <summary>Whether a key has signed a token. The library checks once more what it says.</summary>
    public async Task<bool> IsSignedWithAsync(JsonWebToken token, SigningKey key, string issuer) =>
        (await _handler.ValidateTokenAsync(token, new TokenValidationParameters
        {
            ValidAlgorithms = [token.Alg],
            ValidAudience = _options.Audience,
            ValidIssuer = issuer,
            LifetimeValidator = (_, _, read, _) => ProblemOfTime((JsonWebToken)read) is null,
            IssuerSigningKeyResolver = (_, _, _, _) => [key.Key],
            RequireExpirationTime = true,
            RequireSignedTokens = true,
        })).IsValid;

    /// <summary>Reads the caller of a token whose signature is right.</summary>
    public Outcome<Caller> CallerOf(JsonWebToken token, SigningKey key)
    {
        var (id, client) = (IdOf(token), ClientOf(token));
        if (!IsName(id) || (client is not null && !IsName(client)))
        {
            return Invalid(
                "The token does not identify a caller: of the claims sub, client_id and azp it has none, "
                + $"or one of more than {WireFormat.NameMax} characters, with control characters, or that begins with "
                + $"'{Caller.OfCertificate}'.");
        }
        var accounts = Words(token, _options.AccountClaim).ToList();
        if (accounts.Find(entry => !AccountGrants.IsValid(entry)) is { } wrong)
        {
            return Invalid(
                $"The token's claim {_options.AccountClaim} has "
                + $"'{UntrustedText.Printable(wrong, WireFormat.NameMax)}'; its entries are {AccountGrants.Form}.");
        }
        return new Caller(
            TokenCallers.SchemeName, id, Words(token, "scope").Concat(Words(token, "scp")),
            new AccountGrants(accounts), Expiry(token), client)
        { Revoked = key.Removed };
    }

    /// <summary>The caller that a token names, whoever has signed it; empty for none.</summary>
    public static string IdOf(JsonWebToken token) => Text(token, "sub") ?? ClientOf(token) ?? "";

    // With the services' clock.
    private Failure? ProblemOfTime(JsonWebToken token)
    {
        var now = time.AgreedClock().GetUtcNow();
        return token.ValidTo == DateTime.MinValue ? Invalid("The token does not say when it expires.")
            : Expiry(token) < now
                ? new(StatusCode.Unauthenticated, ErrorReasons.TokenExpired, "The token has expired.")
            : token.ValidFrom.Ticks > now.UtcTicks + _options.ClockSkew.Ticks
                ? Invalid("The token is not valid yet.")
            : null;
    }

    private DateTimeOffset Expiry(JsonWebToken token) => new(
        Math.Min(token.ValidTo.Ticks, DateTimeOffset.MaxValue.Ticks - _options.ClockSkew.Ticks)
            + _options.ClockSkew.Ticks,
        TimeSpan.Zero);

    // RFC 8725, section 3.11: not one of another kind that the same issuer has signed, such as a logout token.
    private static bool IsAccessToken(string? type)
    {
        const string Media = "application/";
        var name = type?.StartsWith(Media, StringComparison.OrdinalIgnoreCase) == true ? type[Media.Length..] : type;
        return name is null or "" || name.Equals("JWT", StringComparison.OrdinalIgnoreCase)
            || name.Equals("at+jwt", StringComparison.OrdinalIgnoreCase);
    }

    // A token must not name a caller as a certificate does.
    private static bool IsName(string text) =>
        WireFormat.IsName(text) && !text.StartsWith(Caller.OfCertificate, StringComparison.Ordinal);

    private static string? ClientOf(JsonWebToken token) => Text(token, "client_id") ?? Text(token, "azp");

    private static string? Text(JsonWebToken token, string claim) =>
        token.TryGetPayloadValue<string>(claim, out var text) && text.Length > 0 ? text : null;

    /// <summary>The words of a claim that is a space-separated string or an array of strings.</summary>
    private static IEnumerable<string> Words(JsonWebToken token, string claim) =>
        token.Claims.Where(c => c.Type == claim)
            .SelectMany(c => c.Value.Split(' ', StringSplitOptions.RemoveEmptyEntries));

    // What the library throws for a text that is no token, and for a claim of another kind.
    private static bool IsMalformed(Exception e) => e is ArgumentException or FormatException
        or InvalidOperationException or SecurityTokenException or System.Text.Json.JsonException
        or InvalidCastException or OverflowException;
}
