using System.Security.Claims;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Grpc.Core;

namespace Billing.Proxy.Security;

/// <summary>Who makes a call, and what it may do. Where callers need not say who they are, one is all callers of an
/// address, and may do everything.</summary>
public sealed class Caller : ClaimsIdentity
{
    private readonly bool _mayDoEverything;
    private readonly HashSet<string> _scopes = new(StringComparer.Ordinal);
    private readonly HashSet<string> _accounts = new(StringComparer.Ordinal);
    private readonly List<string> _beginnings = [];

    /// <summary>A caller that nobody knows.</summary>
    /// <param name="id">What tells it from others, such as its address.</param>
    public Caller(string id)
    {
        Id = id;
        _mayDoEverything = true;
    }

    /// <summary>A caller that has proved who it is.</summary>
    /// <param name="scheme">How.</param>
    /// <param name="id">Its name, the same in all of its tokens.</param>
    /// <param name="scopes">What it may do.</param>
    /// <param name="accounts">What it may do it with: account ids, or beginnings of ids that end in <c>*</c>.</param>
    public Caller(string scheme, string id, IEnumerable<string> scopes, IEnumerable<string> accounts)
        : base(scheme)
    {
        Id = id;
        _scopes.UnionWith(scopes);
        foreach (var account in accounts)
        {
            if (account.EndsWith('*'))
            {
                _beginnings.Add(account[..^1]);
            }
            else
            {
                _accounts.Add(account);
            }
        }
    }

    /// <summary>What tells it from others.</summary>
    public string Id { get; }

    /// <summary>The caller of a request.</summary>
    public static Caller Of(HttpContext http) =>
        http.User.Identity as Caller ?? http.Features.Get<Caller>() ?? Nobody;

    /// <summary>The caller of a gRPC call.</summary>
    public static Caller Of(ServerCallContext call) => Of(call.GetHttpContext());

    /// <summary>Whether it may do what a scope stands for.</summary>
    public bool Has(string scope) => _mayDoEverything || _scopes.Contains(scope);

    /// <summary>Whether an account is one of its own.</summary>
    public bool Reaches(string accountId) => _mayDoEverything || _accounts.Contains(accountId)
        || _beginnings.Exists(beginning => accountId.StartsWith(beginning, StringComparison.Ordinal));

    /// <summary>Refuses an account that is not one of its own. Whether there is such an account is not told.</summary>
    /// <exception cref="RpcException">PERMISSION_DENIED.</exception>
    public void MustReach(string accountId)
    {
        if (!Reaches(accountId))
        {
            throw Failure.Create(StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed,
                "The caller's token does not name this account.");
        }
    }

    private static Caller Nobody { get; } = new("nobody");
}
