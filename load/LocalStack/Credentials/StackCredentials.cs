using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Credentials;

/// <summary>The credentials of a stack on this machine and of its callers: files in a folder that only its owner may read.
/// </summary>
public sealed class StackCredentials
{
    private const string Ca = "ca.pem";
    private const string Server = "proxy.pem";
    private const string Broker = "kafka.pem";
    private const string Database = "postgres.pem";
    private const string Client = "client.pem";
    private const string Jwks = "jwks.json";
    private const string TokenKey = "tokens.pem";

    // The principals of deploy/bootstrap/kafka/access.txt.
    private static readonly string[] Accounts = ["proxy", "payment-backend", "balance-backend", "webhooks", "operator"];

    private readonly string _folder;

    private readonly Dictionary<string, string> _passwords = Accounts
        .ToDictionary(user => user, _ => RandomNumberGenerator.GetHexString(32, lowercase: true));

    private StackCredentials(string folder) => _folder = folder;

    /// <summary>The file of the certificate authority that callers trust.</summary>
    public string CaFile => Path.Combine(_folder, Ca);

    /// <summary>The file of a client certificate and its key, for callers that authenticate with one.</summary>
    public string ClientFile => Path.Combine(_folder, Client);

    /// <summary>The settings of a proxy that authenticates its callers, keyed by environment variable.</summary>
    public IReadOnlyDictionary<string, string> ProxySettings => new Dictionary<string, string>
    {
        ["Billing__Tls__CertificateFile"] = Path.Combine(_folder, Server),
        ["Billing__Tls__ClientCaFile"] = CaFile,
        ["Billing__Auth__JwksFile"] = Path.Combine(_folder, Jwks),
        ["Billing__Auth__Issuer"] = TokenIssuer.Issuer,
        ["Billing__Auth__Audience"] = TokenIssuer.Audience,
    };

    /// <summary>The certificate of the brokers and the password of each of their users.</summary>
    public BrokerSecurity Brokers => new(Path.Combine(_folder, Broker), _passwords);

    /// <summary>The certificate of the database server.</summary>
    public ServerCertificate Postgres => new(File.ReadAllText(Path.Combine(_folder, Database)), CaFile);

    /// <summary>Returns the secrets folder (<c>Billing:SecretsFolder</c>) of a program that connects to the brokers as one of
    /// their users.</summary>
    public string SecretsOf(string user) => Path.Combine(_folder, "secrets", user);

    /// <summary>Creates credentials in a folder, replacing those that it contains. Creates the folder if it is missing.</summary>
    public static StackCredentials CreateIn(string folder, TimeProvider time)
    {
        StackFolder.CreatePrivate(folder);
        using var authority = new CertificateAuthority("Billing development CA", time);
        using var tokens = TokenIssuer.New(time);
        foreach (var (name, text) in (ReadOnlySpan<(string, string)>)
            [
                (Ca, authority.Pem), (Server, authority.Server("billing-proxy")), (Broker, authority.Server("kafka")),
                (Database, authority.Server("postgres")), (Client, authority.Client("billing-client")), (Jwks, tokens.Jwks), (TokenKey, tokens.Pem),
            ])
        {
            File.WriteAllText(Path.Combine(folder, name), text);
        }
        var credentials = new StackCredentials(folder);
        credentials.WriteSecrets();
        return credentials;
    }

    /// <summary>Creates what a deployment with Compose needs in a folder: certificates, and, unless they are there, the key of tokens and
    /// the passwords of brokers and database, which are in use.</summary>
    /// <param name="names">The names or addresses by which callers reach the proxies, besides <c>localhost</c>.</param>
    /// <param name="lifetime">The lifetime of the certificates.</param>
    public static void CreateForDeployment(string folder, IEnumerable<string> names, TimeSpan lifetime, TimeProvider time)
    {
        StackFolder.CreatePrivate(folder);
        var key = Path.Combine(folder, TokenKey);
        using var authority = new CertificateAuthority("Billing CA", time, lifetime);
        using var tokens = File.Exists(key) ? TokenIssuer.Of(File.ReadAllText(key), time) : TokenIssuer.New(time);
        Share(Ca, authority.Pem);
        Share(Server, authority.Server("billing-proxy", names));
        Share(Jwks, tokens.Jwks);
        File.WriteAllText(key, tokens.Pem);
        foreach (var account in Accounts.Append("admin"))
        {
            Keep("kafka-" + account, PostgresSettings.NewPassword());
        }
        Keep("postgres", $"Host=postgres;Database=billing;Username=billing;Password={PostgresSettings.NewPassword()}");
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
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
        }
    }

    /// <summary>Returns the credentials in a folder; null if it contains none.</summary>
    public static StackCredentials? Find(string folder) => File.Exists(Path.Combine(folder, TokenKey)) ? new StackCredentials(folder) : null;

    /// <summary>Creates a secret that events for a receiver are signed with.</summary>
    public static string NewWebhookSecret() => "whsec_" + Convert.ToBase64String(RandomNumberGenerator.GetBytes(32));

    /// <summary>Issues a token.</summary>
    /// <param name="accounts">The accounts that its bearer may access.</param>
    public string Token(string subject, IEnumerable<string> scopes, IEnumerable<string> accounts, TimeSpan lifetime, TimeProvider time)
    {
        using var issuer = TokenIssuer.Of(File.ReadAllText(Path.Combine(_folder, TokenKey)), time);
        return issuer.Issue(subject, scopes, accounts, lifetime);
    }

    /// <summary>Creates an HTTP handler that trusts the authority; the caller disposes of it.</summary>
    public SocketsHttpHandler Handler()
    {
        var handler = new SocketsHttpHandler();
        handler.SslOptions.CertificateChainPolicy = TrustIn(CaFile);
        return handler;
    }

    private static X509ChainPolicy TrustIn(string caFile) => new()
    {
        TrustMode = X509ChainTrustMode.CustomRootTrust,
        RevocationMode = X509RevocationMode.NoCheck,
        CustomTrustStore = { X509CertificateLoader.LoadCertificateFromFile(caFile) },
    };

    // As files, because librdkafka's names contain dots, and a shell does not pass on variables with dots in their names.
    private void WriteSecrets()
    {
        const string Property = "Billing__Kafka__Properties__";
        foreach (var (user, password) in _passwords)
        {
            var folder = SecretsOf(user);
            Directory.CreateDirectory(folder);
            foreach (var (name, value) in (ReadOnlySpan<(string, string)>)
                [("security.protocol", "SASL_SSL"), ("ssl.ca.location", CaFile), ("sasl.mechanism", "PLAIN"), ("sasl.username", user), ("sasl.password", password)])
            {
                File.WriteAllText(Path.Combine(folder, Property + name), value);
            }
        }
    }
}
