using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Billing.Client;

namespace Billing.UnitTests.Client;

/// <summary>A certificate authority, and the certificates that it has signed for a server at 127.0.0.1 and
/// billing.test, and for a client; also as files.</summary>
internal sealed class SelfMadeCertificates : IDisposable
{
    private static readonly DateTimeOffset From = TimeProvider.System.GetUtcNow().AddDays(-1);

    private readonly string _folder = Directory.CreateTempSubdirectory("billing-certificates-").FullName;

    public SelfMadeCertificates()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN=authority {Guid.NewGuid()}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        Authority = request.CreateSelfSigned(From, From.AddDays(10));
        Server = Issue("server", "1.3.6.1.5.5.7.3.1");
        using var client = Issue("client", "1.3.6.1.5.5.7.3.2");
        File.WriteAllText(CaFile, Authority.ExportCertificatePem());
        File.WriteAllText(ClientFile, client.ExportCertificatePem());
        File.WriteAllText(KeyFile, client.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem());
    }

    public X509Certificate2 Authority { get; }

    public X509Certificate2 Server { get; }

    public string CaFile => Path.Combine(_folder, "ca.pem");

    public string ClientFile => Path.Combine(_folder, "client.pem");

    public string KeyFile => Path.Combine(_folder, "client.key");

    /// <summary>Configures a client to use the certificates.</summary>
    public void Apply(TlsOptions tls) => (tls.CaFile, tls.CertificateFile, tls.KeyFile) = (CaFile, ClientFile, KeyFile);

    public void Dispose()
    {
        Authority.Dispose();
        Server.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    private X509Certificate2 Issue(string name, string purpose)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=" + name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(purpose)], false));
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(IPAddress.Loopback);
        names.AddDnsName("billing.test");
        request.CertificateExtensions.Add(names.Build());
        using var issued = request.Create(Authority, From, From.AddDays(5), Guid.NewGuid().ToByteArray());
        return issued.CopyWithPrivateKey(key);
    }
}
