using System.Text.RegularExpressions;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Access;

/// <summary>What a caller is told: whether it is let in, or the status and the reason of the refusal.</summary>
internal sealed record Told(string Status, string Reason = "")
{
    public static Told In { get; } = new("let in");

    public static Told By(RpcException refused) => new($"{refused.StatusCode}", refused.Reason() ?? "");
}

/// <summary>One way to have one thing done: a method of gRPC, a route of REST, a page, or a call of the SDK.</summary>
/// <param name="Front">Which of those.</param>
/// <param name="Name">The method, or the operation of the route, or the path of the page.</param>
/// <param name="Network">The network of the account that it is about.</param>
/// <param name="Account">The account's id.</param>
/// <param name="Knock">Tries it at an address of the proxy, with a token or without one.</param>
internal sealed partial record Door(
    string Front, string Name, PaymentType Network, string Account, Func<Uri, string?, Task<Told>> Knock)
{
    // From the page for operators, and not from the code, which could be wrong.
    private static readonly Dictionary<string, string> Documented = (
        from row in Repository.Rows("docs/operations/secure.md", "| scope | lets its bearer use |")
        from name in Names().Matches(row[1]).Select(match => match.Value)
        select (name, row[0].Trim('`'))).ToDictionary(StringComparer.Ordinal);

    /// <summary>The scope that it needs.</summary>
    public string Scope => Documented.TryGetValue(Name, out var scope)
        ? scope
        : throw new InvalidOperationException($"docs/operations/secure.md says of no scope that it is for {Name}.");

    /// <summary>Whether it is for operators, and so at their address only.</summary>
    public bool IsForOperators => Scope is "accounts:manage" or "operations:read" || Front == "page";

    /// <summary>Whether it shows all accounts.</summary>
    public bool ShowsAll => Scope == "operations:read";

    /// <summary>The names that the page for operators has.</summary>
    public static IEnumerable<string> DocumentedNames => Documented.Keys;

    /// <summary>What a caller has to be told.</summary>
    /// <param name="isAdmin">Whether it knocks at the operators' address.</param>
    /// <param name="scopes">The scopes of its token; null without a token.</param>
    /// <param name="reaches">Whether its token reaches the accounts.</param>
    public Told Right(bool isAdmin, IReadOnlyCollection<string>? scopes, bool reaches) =>
        IsForOperators && !isAdmin ? Refusal(StatusCode.Unimplemented, 404, ErrorReasons.NotServedHere)
        : scopes is null ? Refusal(StatusCode.Unauthenticated, 401, ErrorReasons.TokenMissing)
        : !scopes.Contains(Scope) ? Refusal(StatusCode.PermissionDenied, 403, ErrorReasons.ScopeMissing)
        : !reaches ? Refusal(StatusCode.PermissionDenied, 403, ErrorReasons.AccountNotAllowed)
        : Told.In;

    // The SDK's callers are told a reason of its own, and the message.
    private Told Refusal(StatusCode status, int http, string reason) => Front switch
    {
        "gRPC" => new($"{status}", reason),
        "SDK" => new($"{SdkDoors.ReasonFor(status)}", SdkDoors.WordOf(reason)),
        _ => new($"{http}", reason),
    };

    public override string ToString() => $"{Front} {Name}";

    [GeneratedRegex("[A-Z][a-z]+(?:[A-Z][a-z]+)+|/live/[a-z]+")]
    private static partial Regex Names();
}
