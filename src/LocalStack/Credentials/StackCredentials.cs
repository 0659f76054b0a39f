using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Credentials;

/// <summary>What the proxies of a stack on this machine, and their callers, prove themselves with: files in a folder that only
/// its owner may read.</summary>
public sealed class StackCredentials
{
    private const string Ca = "ca.pem";
    private const string Server = "proxy.pem";
    private const string Broker = "kafka.pem";
    private const string Database = "postgres.pem";
    private const string Client = "client.pem";
    private const string Jwks = "jwks.json";
    private const string TokenKey = "tokens.pem";

    private readonly string _folder;

    // The principals of deploy/bootstrap/kafka/access.txt.
    private readonly Dictionary<string, string> _passwords = new[] { "proxy", "payment-backend", "balance-backend", "operator" }
        .ToDictionary(user => user, _ => RandomNumberGenerator.GetHexString(32, lowercase: true));

    private StackCredentials(string folder) => _folder = folder;

    /// <summary>The certificate of the authority that callers are to trust.</summary>
    public string CaFile => Path.Combine(_folder, Ca);

    /// <summary>A certificate and its key, for a caller that wants to come with one.</summary>
    public string ClientFile => Path.Combine(_folder, Client);

    /// <summary>The settings of a proxy that asks who its callers are, by their names as environment variables.</summary>
    public IReadOnlyDictionary<string, string> ProxySettings => new Dictionary<string, string>
    {
        ["Billing__Tls__CertificateFile"] = Path.Combine(_folder, Server),
        ["Billing__Tls__ClientCaFile"] = CaFile,
        ["Billing__Auth__JwksFile"] = Path.Combine(_folder, Jwks),
        ["Billing__Auth__Issuer"] = TokenIssuer.Issuer,
        ["Billing__Auth__Audience"] = TokenIssuer.Audience,
    };

    /// <summary>What the brokers prove themselves with, and the password of each of their users.</summary>
    public BrokerSecurity Brokers => new(Path.Combine(_folder, Broker), _passwords);

    /// <summary>What the database proves itself with.</summary>
    public ServerCertificate Postgres => new(File.ReadAllText(Path.Combine(_folder, Database)), CaFile);

    /// <summary>The folder of settings (<c>Billing:SecretsFolder</c>) of a program that comes to the brokers as one of their
    /// users.</summary>
    public string SecretsOf(string user) => Path.Combine(_folder, "secrets", user);

    /// <summary>Makes credentials in a folder, which is made where it is missing, in place of those that it has.</summary>
    public static StackCredentials CreateIn(string folder, TimeProvider time)
    {
        StackFolder.CreatePrivate(folder);
        using var authority = new CertificateAuthority("Billing development CA", time);
        using var tokens = TokenIssuer.New(time);
        foreach (var (name, text) in (ReadOnlySpan<(string, string)>)
            [(Ca, authority.Pem), (Server, authority.Server("billing-proxy")), (Broker, authority.Server("kafka")), (Database, authority.Server("postgres")), (Client, authority.Client("billing-client")), (Jwks, tokens.Jwks), (TokenKey, tokens.Pem)])
        {
            File.WriteAllText(Path.Combine(folder, name), text);
        }
        var credentials = new StackCredentials(folder);
        credentials.WriteSecrets();
        return credentials;
    }

    /// <summary>The credentials in a folder; null where there are none.</summary>
    public static StackCredentials? Find(string folder) => File.Exists(Path.Combine(folder, TokenKey)) ? new StackCredentials(folder) : null;

    /// <summary>Issues a token.</summary>
    /// <param name="subject">Who it names.</param>
    /// <param name="scopes">What its bearer may do.</param>
    /// <param name="accounts">The accounts that its bearer may reach.</param>
    /// <param name="lifetime">How long it is good for.</param>
    /// <param name="time">The clock.</param>
    public string Token(string subject, IEnumerable<string> scopes, IEnumerable<string> accounts, TimeSpan lifetime, TimeProvider time)
    {
        using var issuer = TokenIssuer.Of(File.ReadAllText(Path.Combine(_folder, TokenKey)), time);
        return issuer.Issue(subject, scopes, accounts, lifetime);
    }

    /// <summary>A handler of calls that trusts the authority; dispose of it.</summary>
    public SocketsHttpHandler Handler()
    {
        var handler = new SocketsHttpHandler();
        handler.SslOptions.CertificateChainPolicy = TrustIn(CaFile);
        return handler;
    }

    /// <summary>Trust in the authority of such credentials, and in no other.</summary>
    public static X509ChainPolicy TrustIn(string caFile) => new()
    {
        TrustMode = X509ChainTrustMode.CustomRootTrust,
        RevocationMode = X509RevocationMode.NoCheck,
        CustomTrustStore = { X509CertificateLoader.LoadCertificateFromFile(caFile) },
    };

    // librdkafka's names have dots, which a shell does not pass on in the names of variables.
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
