using System.Security.Cryptography;
using Billing.Operator.Files;

namespace Billing.Operator.Credentials;

/// <summary>The credentials of a deployment and of its callers: files in a folder that only its owner may open.
/// </summary>
public class DeploymentCredentials
{
    /// <summary>The file of the certificate of the authority.</summary>
    protected const string Ca = "ca.pem";

    /// <summary>The file of the proxies' certificate and key.</summary>
    protected const string Server = "proxy.pem";

    /// <summary>The file of the keys with which tokens are verified.</summary>
    protected const string Jwks = "jwks.json";

    /// <summary>The file of the key with which tokens are issued.</summary>
    protected const string TokenKey = "tokens.pem";

    // The proxies of deploy/containers/compose.yaml.
    private const int Proxies = 3;

    /// <summary>Names the folder of the credentials.</summary>
    protected DeploymentCredentials(string folder) => Folder = folder;

    /// <summary>The file of the certificate authority that callers trust.</summary>
    public string CaFile => Path.Combine(Folder, Ca);

    /// <summary>The folder of the credentials.</summary>
    protected string Folder { get; }

    /// <summary>Returns the credentials in a folder; null if it has no key for tokens.</summary>
    public static DeploymentCredentials? Find(string folder) => HasKey(folder) ? new(folder) : null;

    /// <summary>Creates what a deployment with Compose needs in a folder: certificates, and, unless they are there,
    /// the key of tokens and the passwords of brokers and database, which are in use.</summary>
    /// <param name="folder">The folder; it is created if it is missing.</param>
    /// <param name="names">The names or addresses by which callers reach the proxies, besides <c>localhost</c>.</param>
    /// <param name="lifetime">The lifetime of the certificates.</param>
    /// <param name="time">The clock.</param>
    public static void CreateIn(string folder, IEnumerable<string> names, TimeSpan lifetime, TimeProvider time)
    {
        PrivateFolder.Create(folder);
        var key = Path.Combine(folder, TokenKey);
        using var authority = new CertificateAuthority("Billing CA", time, lifetime);
        using var tokens = File.Exists(key) ? TokenIssuer.Of(File.ReadAllText(key), time) : TokenIssuer.New(time);
        Share(Ca, authority.Pem);
        Share(Server, authority.Server("billing-proxy", names));
        Share(Jwks, tokens.Jwks);
        File.WriteAllText(key, tokens.Pem);
        foreach (var account in Accounts(Proxies).Append("admin"))
        {
            Keep("kafka-" + account, NewPassword());
        }
        Keep("postgres", $"Host=postgres;Database=billing;Username=billing;Password={NewPassword()}");
        Keep("webhooks", NewWebhookSecret());

        void Keep(string name, string text)
        {
            if (!File.Exists(Path.Combine(folder, name)))
            {
                Share(name, text);
            }
        }

        // Containers run under other accounts. On this machine, only the folder's owner can open it.
        void Share(string name, string text)
        {
            var path = Path.Combine(folder, name);
            File.WriteAllText(path, text);
            File.SetUnixFileMode(
                path,
                UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
        }
    }

    /// <summary>The name of a proxy, which is also its account on the brokers.</summary>
    /// <param name="number">The proxy's number, from 1.</param>
    public static string ProxyName(int number) => $"proxy-{number}";

    /// <summary>The principals of deploy/bootstrap/kafka/access.txt, with one for each proxy.</summary>
    protected static IEnumerable<string> Accounts(int proxies) =>
        [
            .. Enumerable.Range(1, proxies).Select(ProxyName),
            "payment-backend", "balance-backend", "webhooks", "operator",
        ];

    /// <summary>Creates a password of 32 characters.</summary>
    public static string NewPassword() => RandomNumberGenerator.GetHexString(32, lowercase: true);

    /// <summary>Creates a secret that events for a receiver are signed with.</summary>
    public static string NewWebhookSecret() => "whsec_" + Convert.ToBase64String(RandomNumberGenerator.GetBytes(32));

    /// <summary>Issues a token.</summary>
    /// <param name="subject">The caller that it names.</param>
    /// <param name="scopes">What its bearer may do.</param>
    /// <param name="accounts">The accounts that its bearer may access.</param>
    /// <param name="lifetime">How long it is valid from now on.</param>
    /// <param name="time">The clock.</param>
    public string Token(
        string subject, IEnumerable<string> scopes, IEnumerable<string> accounts, TimeSpan lifetime, TimeProvider time)
    {
        using var issuer = Issuer(time);
        return issuer.Issue(subject, scopes, accounts, lifetime);
    }

    /// <summary>The issuer of the deployment's tokens; the caller disposes of it.</summary>
    /// <param name="time">The clock.</param>
    public TokenIssuer Issuer(TimeProvider time) =>
        TokenIssuer.Of(File.ReadAllText(Path.Combine(Folder, TokenKey)), time);

    /// <summary>Whether a folder has the key with which tokens are issued.</summary>
    protected static bool HasKey(string folder) => File.Exists(Path.Combine(folder, TokenKey));
}
