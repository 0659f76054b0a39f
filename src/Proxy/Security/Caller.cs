using System.Security.Claims;
using Billing.V1;

namespace Billing.Proxy.Security;

/// <summary>The caller of a request, with its permissions. Without authentication, all callers from one address are one
/// caller, which may do everything.</summary>
internal sealed class Caller : ClaimsIdentity
{
    /// <summary>What the ids of callers begin with that a certificate names, and those of no others.</summary>
    public const string OfCertificate = "certificate:";

    private readonly HashSet<string> _scopes = new(StringComparer.Ordinal);

    // Null if it may do everything.
    private readonly AccountGrants? _accounts;

    /// <summary>Creates an unauthenticated caller, which may do everything.</summary>
    public Caller(string id) => Id = id;

    /// <summary>Creates an authenticated caller, which may access the accounts of some grants.</summary>
    public Caller(
        string scheme, string id, IEnumerable<string> scopes, AccountGrants accounts,
        DateTimeOffset? until = null, string? clientId = null)
        : base(scheme)
    {
        (Id, Until) = (id, until);
        Principal = new Principal { Subject = id, ClientId = clientId ?? "" };
        _scopes.UnionWith(scopes);
        _accounts = accounts;
    }

    /// <summary>What identifies the caller; the same in all of its tokens.</summary>
    public string Id { get; }

    /// <summary>When its token expires, on the wall clock; null for never.</summary>
    public DateTimeOffset? Until { get; }

    /// <summary>Cancelled when what vouches for it does no longer, such as the key that has signed its token.</summary>
    public CancellationToken Revoked { get; init; }

    /// <summary>How its commands name it; null without authentication. Not to be changed.</summary>
    public Principal? Principal { get; }

    /// <summary>Whether it may access every account.</summary>
    public bool MayAccessAll => _accounts is null || _accounts.AreForAll;

    public static Caller Of(HttpContext http) =>
        http.User.Identity as Caller ?? http.Features.Get<Caller>() ?? Nobody;

    /// <summary>The address that a request comes from, for limits that hold whoever its caller is.</summary>
    public static string AddressOf(HttpContext http) => http.Features.Get<Caller>()?.Id ?? "";

    public bool Has(string scope) => _accounts is null || _scopes.Contains(scope);

    public bool MayAccess(PaymentType network, string accountId) =>
        _accounts is null || _accounts.Include(network, accountId);

    private static Caller Nobody { get; } = new("nobody");
}
