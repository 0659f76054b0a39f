using Billing.LocalStack.Processes;
using Billing.Operator.Credentials;

namespace Billing.Rehearsal.Machines;

/// <summary>What a program on a machine needs to call the proxies: the authority that signs their certificates, which
/// the machine's installation puts there, and a token. The token is signed as an operator does it, with the key that
/// <c>secrets.sh</c> makes and no machine reads.</summary>
internal static class CallerAccess
{
    /// <summary>The file of the authority on clients and on the operator's machine.</summary>
    public const string CaFile = "/etc/billing/tls/proxies-ca.pem";

    /// <summary>The file of the token.</summary>
    public const string TokenFile = "/run/billing-token";

    // Longer than a rehearsal takes.
    private static readonly TimeSpan Lifetime = TimeSpan.FromDays(1);

    /// <summary>Puts a new token for all accounts on a machine.</summary>
    /// <param name="site">The site, which has the key.</param>
    /// <param name="machine">The machine.</param>
    /// <param name="owner">The only account of the machine that may read the token.</param>
    /// <param name="scopes">What its bearer may do.</param>
    /// <exception cref="StackException">The machine has no such account.</exception>
    public static async Task GiveAsync(Site site, RunningMachine machine, string owner, params string[] scopes)
    {
        using var issuer = TokenIssuer.Of(
            await File.ReadAllTextAsync(Path.Combine(site.Secrets, "tokens/key")), TimeProvider.System);
        var token = issuer.Issue(machine.Machine.Name, scopes, ["*/*"], Lifetime);
        var (exitCode, _, errors) = await machine.Shell().TryAsync(
            [$"umask 077; cat >{TokenFile}.new; chown {owner} {TokenFile}.new; mv {TokenFile}.new {TokenFile}"],
            CancellationToken.None, token);
        if (exitCode != 0)
        {
            throw new StackException($"{machine.Machine.Name} got no token: {errors}");
        }
    }
}
