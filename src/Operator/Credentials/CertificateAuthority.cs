using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Billing.Operator.Credentials;

/// <summary>A certificate authority for a deployment. Its key exists only in this object.</summary>
public sealed class CertificateAuthority : IDisposable
{
    private readonly X509Certificate2 _own;
    private readonly DateTimeOffset _from;
    private readonly TimeSpan _lifetime;

    /// <summary>Creates an authority with a new key.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="time">The clock.</param>
    /// <param name="lifetime">The lifetime of its certificates; by default 30 days.</param>
    public CertificateAuthority(string name, TimeProvider time, TimeSpan? lifetime = null)
    {
        _lifetime = lifetime ?? TimeSpan.FromDays(30);
        // Valid from the past, so that it is also valid by clocks that are slow.
        _from = time.GetUtcNow() - TimeSpan.FromHours(1);
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, true, 0, true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, false));
        _own = request.CreateSelfSigned(_from, _from + _lifetime);
    }

    /// <summary>Its certificate in PEM.</summary>
    public string Pem => _own.ExportCertificatePem();

    /// <summary>Issues a certificate for a server on this machine: <c>localhost</c> and the loopback
    /// addresses.</summary>
    /// <param name="name">The name of the server.</param>
    /// <param name="further">Further names or addresses of the server.</param>
    /// <returns>The certificate followed by its key, in PEM (PKCS #8).</returns>
    public string Server(string name, params IEnumerable<string> further) => Sign(name, "1.3.6.1.5.5.7.3.1", request =>
    {
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName("localhost");
        names.AddIpAddress(IPAddress.Loopback);
        names.AddIpAddress(IPAddress.IPv6Loopback);
        foreach (var other in further)
        {
            if (IPAddress.TryParse(other, out var address))
            {
                names.AddIpAddress(address);
            }
            else
            {
                names.AddDnsName(other);
            }
        }
        request.CertificateExtensions.Add(names.Build());
    });

    /// <summary>Issues a certificate for a caller.</summary>
    /// <param name="name">The name of the caller.</param>
    /// <param name="issuedAt">Where it says that its issuer's certificate is to be had;
    /// null if it says nothing.</param>
    /// <returns>The certificate followed by its key, in PEM (PKCS #8).</returns>
    public string Client(string name, Uri? issuedAt = null) => Sign(name, "1.3.6.1.5.5.7.3.2", request =>
    {
        if (issuedAt is not null)
        {
            request.CertificateExtensions.Add(new X509AuthorityInformationAccessExtension([], [issuedAt.AbsoluteUri]));
        }
    });

    /// <summary>Makes a list of certificates that it has revoked.</summary>
    /// <param name="revoked">The certificates, in PEM.</param>
    /// <param name="from">When it was made.</param>
    /// <param name="until">When the next one is due.</param>
    /// <returns>The list in DER.</returns>
    public byte[] RevocationList(IEnumerable<string> revoked, DateTimeOffset from, DateTimeOffset until)
    {
        var list = new CertificateRevocationListBuilder();
        foreach (var pem in revoked)
        {
            using var certificate = X509Certificate2.CreateFromPem(pem);
            list.AddEntry(certificate, from);
        }
        return list.Build(_own, crlNumber: 1, until, HashAlgorithmName.SHA256, thisUpdate: from);
    }

    /// <inheritdoc/>
    public void Dispose() => _own.Dispose();

    private string Sign(string name, string usage, Action<CertificateRequest> extend)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(usage)], false));
        request.CertificateExtensions.Add(X509AuthorityKeyIdentifierExtension.CreateFromCertificate(_own, true, false));
        extend(request);
        using var signed = request.Create(_own, _from, _from + _lifetime, RandomNumberGenerator.GetBytes(16));
        return $"{signed.ExportCertificatePem()}\n{key.ExportPkcs8PrivateKeyPem()}\n";
    }
}
