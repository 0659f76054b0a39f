using System.Security.Cryptography.X509Certificates;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.Operator.Credentials;
using Billing.Operator.Files;

namespace Billing.LocalStack.Credentials;

/// <summary>The credentials of a stack on this machine and of its callers: files in a folder that only
/// its owner may read.</summary>
public sealed class StackCredentials : DeploymentCredentials
{
    private const string Broker = "kafka.pem";
    private const string Database = "postgres.pem";

    private readonly Dictionary<string, string> _passwords;

    private StackCredentials(string folder, int proxies)
        : base(folder) =>
        _passwords = Accounts(proxies).ToDictionary(user => user, _ => NewPassword());

    /// <summary>The settings of a proxy that authenticates its callers, keyed by environment variable.</summary>
    public IReadOnlyDictionary<string, string> ProxySettings => new Dictionary<string, string>
    {
        ["Billing__Tls__CertificateFile"] = Path.Combine(Folder, Server),
        ["Billing__Auth__JwksFile"] = Path.Combine(Folder, Jwks),
        ["Billing__Auth__Issuer"] = TokenIssuer.Issuer,
        ["Billing__Auth__Audience"] = TokenIssuer.Audience,
    };

    /// <summary>The certificate of the brokers and the password of each of their users.</summary>
    public BrokerSecurity Brokers => new(Path.Combine(Folder, Broker), _passwords);

    /// <summary>The certificate of the database server.</summary>
    public ServerCertificate Postgres => new(File.ReadAllText(Path.Combine(Folder, Database)), CaFile);

    /// <summary>Returns the secrets folder (<c>Billing:SecretsFolder</c>) of a program that connects to the brokers as
    /// one of their users.</summary>
    public string SecretsOf(string user) => Path.Combine(Folder, "secrets", user);

    /// <summary>Creates credentials in a folder, replacing those that it contains.
    /// Creates the folder if it is missing.</summary>
    /// <param name="folder">The folder.</param>
    /// <param name="proxies">Number of proxies, each of which is a user of the brokers of its own.</param>
    /// <param name="time">The clock.</param>
    public static StackCredentials CreateIn(string folder, int proxies, TimeProvider time)
    {
        PrivateFolder.Create(folder);
        using var authority = new CertificateAuthority("Billing development CA", time);
        using var tokens = TokenIssuer.New(time);
        foreach (var (name, text) in (ReadOnlySpan<(string, string)>)
            [
                (Ca, authority.Pem), (Server, authority.Server("billing-proxy")), (Broker, authority.Server("kafka")),
                (Database, authority.Server("postgres")),
                (Jwks, tokens.Jwks), (TokenKey, tokens.Pem),
            ])
        {
            File.WriteAllText(Path.Combine(folder, name), text);
        }
        var credentials = new StackCredentials(folder, proxies);
        credentials.WriteSecrets();
        return credentials;
    }

    /// <summary>Returns the credentials in a folder; null if it contains none.</summary>
    public static new StackCredentials? Find(string folder) => HasKey(folder) ? new(folder, proxies: 0) : null;

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

    // As files, because librdkafka's names contain dots, and a shell does not pass on variables with
    // dots in their names.
    private void WriteSecrets()
    {
        const string Property = "Billing__Kafka__Properties__";
        foreach (var (user, password) in _passwords)
        {
            var folder = SecretsOf(user);
            Directory.CreateDirectory(folder);
            foreach (var (name, value) in (ReadOnlySpan<(string, string)>)
                [
                    ("security.protocol", "SASL_SSL"), ("ssl.ca.location", CaFile), ("sasl.mechanism", "PLAIN"),
                    ("sasl.username", user), ("sasl.password", password),
                ])
            {
                File.WriteAllText(Path.Combine(folder, Property + name), value);
            }
        }
    }
}
