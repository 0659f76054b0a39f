using System.Security.Claims;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Proxy.Failures;
using Grpc.Core;
using Microsoft.AspNetCore.Authentication.JwtBearer;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;
using Microsoft.IdentityModel.JsonWebTokens;
using Microsoft.IdentityModel.Tokens;

namespace Billing.Proxy.Security;

/// <summary>Configures the validation of tokens, and caches valid tokens for a short time: the check of a signature
/// costs more than everything else that a proxy does for a call.</summary>
internal sealed class TokenCallers(
    IOptions<AuthOptions> options, TimeProvider time, ILogger<TokenCallers> logger) : IDisposable
{
    // So long may a token still be accepted after its key was removed from the key set.
    private static readonly TimeSpan RememberedFor = TimeSpan.FromSeconds(60);

    // What is known of a token takes about as much memory as the token, which may be as long as all headers together.
    private const long RememberedBytesMax = 16 * 1024 * 1024;

    private static readonly string[] Algorithms =
    [
        SecurityAlgorithms.RsaSha256, SecurityAlgorithms.RsaSha384, SecurityAlgorithms.RsaSha512,
        SecurityAlgorithms.RsaSsaPssSha256, SecurityAlgorithms.RsaSsaPssSha384, SecurityAlgorithms.RsaSsaPssSha512,
        SecurityAlgorithms.EcdsaSha256, SecurityAlgorithms.EcdsaSha384, SecurityAlgorithms.EcdsaSha512,
    ];

    private readonly AuthOptions _options = options.Value;
    private readonly MemoryCache _remembered = new(new MemoryCacheOptions { SizeLimit = RememberedBytesMax });

    private readonly ReloadedFiles<JsonWebKeySet>? _keys = options.Value.JwksFile.Length == 0 ? null
        : new ReloadedFiles<JsonWebKeySet>([options.Value.JwksFile], ReadKeys, time, logger);

    /// <summary>Number of tokens that are remembered.</summary>
    public int Remembering => _remembered.Count;

    /// <summary>Reads the key set for the first time, if it is in a file.</summary>
    /// <exception cref="StartupException">It cannot be used.</exception>
    public void Load() => _keys?.Load($"{AuthOptions.Section}:{nameof(AuthOptions.JwksFile)} ('{_options.JwksFile}')");

    public void Configure(JwtBearerOptions bearer)
    {
        bearer.MapInboundClaims = false;
        bearer.TimeProvider = time;
        bearer.TokenValidationParameters = new TokenValidationParameters
        {
            AlgorithmValidator = (algorithm, key, _, _) => Suits(algorithm, key),
            TypeValidator = (type, _, _) => IsAccessToken(type) ? type
                : throw new SecurityTokenInvalidTypeException("The token is not one for access."),
            ValidAudience = _options.Audience,
            ValidIssuer = _options.Issuer.Length > 0 ? _options.Issuer : null,
            ClockSkew = _options.ClockSkew,
            LifetimeValidator = (from, to, _, _) => IsCurrent(from, to),
            RequireExpirationTime = true,
            RequireSignedTokens = true,
        };
        if (_keys is not null)
        {
            bearer.TokenValidationParameters.IssuerSigningKeyResolver = (_, _, _, _) => _keys.Value.GetSigningKeys();
        }
        else
        {
            bearer.Authority = _options.Authority;
            // Also for the address of the keys, which the authority tells. AuthOptions refuses an authority without TLS
            // that is not a loopback address.
            bearer.RequireHttpsMetadata = ServiceAddresses.HasTls(_options.Authority);
        }
        bearer.Events = new JwtBearerEvents { OnMessageReceived = Recall, OnTokenValidated = Accept };
    }

    /// <summary>Whether the token in a header was found valid before, and has not expired since.
    /// It may have to be validated again.</summary>
    public bool Knows(string header) => KeyOf(header) is { } key && _remembered.TryGetValue(key, out _);

    public void Dispose() => _remembered.Dispose();

    private DateTimeOffset Now => time.AgreedClock().GetUtcNow();

    private static JsonWebKeySet ReadKeys(IReadOnlyList<byte[]> files)
    {
        try
        {
            var keys = new JsonWebKeySet(System.Text.Encoding.UTF8.GetString(files[0]));
            return keys.GetSigningKeys().Count > 0
                ? keys
                : throw new InvalidDataException("It holds no key for signatures.");
        }
        catch (Exception e) when (e is ArgumentException or JsonException)
        {
            throw new InvalidDataException("It is not a JSON Web Key Set: " + e.Message, e);
        }
    }

    // The library's own check, but with the services' clock.
    private bool IsCurrent(DateTime? from, DateTime? to)
    {
        var now = Now.UtcDateTime;
        if (to is null)
        {
            throw new SecurityTokenNoExpirationException("The token does not say when it expires.");
        }
        if (to + _options.ClockSkew < now)
        {
            throw new SecurityTokenExpiredException("The token has expired.") { Expires = to.Value };
        }
        return from is null || from - _options.ClockSkew <= now;
    }

    // RFC 7518, sections 3.1 and 3.3: each curve has one algorithm, and an RSA key has 2048 bits or more.
    private static bool Suits(string algorithm, SecurityKey key) => Algorithms.Contains(algorithm)
        && key.KeySize switch
        {
            256 => algorithm == SecurityAlgorithms.EcdsaSha256,
            384 => algorithm == SecurityAlgorithms.EcdsaSha384,
            521 => algorithm == SecurityAlgorithms.EcdsaSha512,
            var size => size >= 2048,
        };

    // RFC 8725, section 3.11: not one of another kind that the same issuer has signed, such as a logout token.
    private static bool IsAccessToken(string? type)
    {
        const string Media = "application/";
        var name = type?.StartsWith(Media, StringComparison.OrdinalIgnoreCase) == true ? type[Media.Length..] : type;
        return name is null or "" || name.Equals("JWT", StringComparison.OrdinalIgnoreCase)
            || name.Equals("at+jwt", StringComparison.OrdinalIgnoreCase);
    }

    private Task Recall(MessageReceivedContext received)
    {
        if (received.Request.Headers.Authorization is [{ } header] && KeyOf(header) is { } key
            && _remembered.TryGetValue(key, out Remembered? known) && Now < known!.Until)
        {
            received.Principal = known.Principal;
            received.Success();
        }
        return Task.CompletedTask;
    }

    private Task Accept(TokenValidatedContext validated)
    {
        var token = (JsonWebToken)validated.SecurityToken;
        if (token.TryGetHeaderValue("crit", out object _))
        {
            // RFC 7515, section 4.1.11: what must be understood is not understood here.
            validated.Fail("The token's header has extensions that this platform does not know.");
            return Task.CompletedTask;
        }
        var client = Text(token, "client_id") ?? Text(token, "azp");
        var id = token.Subject is { Length: > 0 } subject ? subject : client;
        if (id is null || !IsName(id) || (client is not null && !IsName(client)))
        {
            validated.Fail(
                "The token does not identify a caller: of the claims sub, client_id and azp it has none, "
                + $"or one of more than {WireFormat.NameMax} characters, with control characters, or that begins with "
                + $"'{CertificateCallers.Prefix}'.");
            return Task.CompletedTask;
        }
        var accounts = Words(token, _options.AccountClaim).ToList();
        if (accounts.Find(entry => !AccountGrants.IsValid(entry)) is { } wrong)
        {
            validated.Fail(new FailureException(new Failure(
                StatusCode.Unauthenticated, ErrorReasons.TokenInvalid,
                $"The token's claim {_options.AccountClaim} has "
                    + $"'{UntrustedText.Printable(wrong, WireFormat.NameMax)}'; "
                    + $"its entries are {AccountGrants.Form}.")));
            return Task.CompletedTask;
        }
        var caller = new Caller(
            JwtBearerDefaults.AuthenticationScheme, id, Words(token, "scope").Concat(Words(token, "scp")),
            new AccountGrants(accounts), Expiry(token), client);
        validated.Principal = new ClaimsPrincipal(caller);
        Remember(validated.Request.Headers.Authorization.ToString(), validated.Principal, token);
        return Task.CompletedTask;
    }

    private void Remember(string header, ClaimsPrincipal principal, JsonWebToken token)
    {
        var until = Now + RememberedFor;
        var expires = Expiry(token);
        _remembered.Set(
            KeyOf(header)!, new Remembered(principal, until < expires ? until : expires),
            new MemoryCacheEntryOptions { Size = header.Length, AbsoluteExpirationRelativeToNow = expires - Now });
    }

    // Of the token alone: the header may have any number of spaces before it. Null if it has no token.
    private static string? KeyOf(string header)
    {
        const string Bearer = "Bearer ";
        return header.StartsWith(Bearer, StringComparison.OrdinalIgnoreCase)
            ? Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(header[Bearer.Length..].Trim())))
            : null;
    }

    // A token must not name a caller as a certificate does.
    private static bool IsName(string text) =>
        WireFormat.IsName(text) && !text.StartsWith(CertificateCallers.Prefix, StringComparison.Ordinal);

    private DateTimeOffset Expiry(JsonWebToken token) =>
        new DateTimeOffset(token.ValidTo, TimeSpan.Zero) + _options.ClockSkew;

    private static string? Text(JsonWebToken token, string claim) =>
        token.TryGetPayloadValue<string>(claim, out var text) && text.Length > 0 ? text : null;

    /// <summary>The words of a claim that is a space-separated string or an array of strings.</summary>
    private static IEnumerable<string> Words(JsonWebToken token, string claim) =>
        token.Claims.Where(c => c.Type == claim)
            .SelectMany(c => c.Value.Split(' ', StringSplitOptions.RemoveEmptyEntries));

    private sealed record Remembered(ClaimsPrincipal Principal, DateTimeOffset Until);
}
