using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Billing.Client;

/// <summary>The authorities that may have signed a proxy's certificate. Their file is read again for each connection,
/// so that another authority takes over while the program runs; while it cannot be used, those that are known stay.
/// Thread-safe.</summary>
internal sealed class TrustedAuthorities
{
    private static readonly Oid ForServers = new("1.3.6.1.5.5.7.3.1");

    private readonly string _path;
    private volatile X509Certificate2Collection _known;

    /// <exception cref="Exception">The file cannot be used.</exception>
    public TrustedAuthorities(string path)
    {
        _path = path;
        _known = Read(path);
    }

    /// <summary>Accepts a proxy; a <see cref="RemoteCertificateValidationCallback"/>.</summary>
    /// <exception cref="AuthenticationException">It may not be connected to; the message says why.</exception>
    public bool Accept(object sender, X509Certificate? shown, X509Chain? sent, SslPolicyErrors errors)
    {
        // That there is a certificate, and that it has the proxy's name, does not depend on the authorities.
        if (shown is not X509Certificate2 certificate
            || (errors & ~SslPolicyErrors.RemoteCertificateChainErrors) != SslPolicyErrors.None)
        {
            throw new AuthenticationException($"The proxy's certificate is invalid: {errors}.");
        }
        using var chain = new X509Chain
        {
            ChainPolicy =
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                // Private certificate authorities rarely publish revocation lists.
                RevocationMode = X509RevocationMode.NoCheck,
                ApplicationPolicy = { ForServers },
            },
        };
        chain.ChainPolicy.CustomTrustStore.AddRange(Known());
        // The intermediate certificates that the proxy has sent.
        if (sent is not null)
        {
            chain.ChainPolicy.ExtraStore.AddRange(sent.ChainPolicy.ExtraStore);
        }
        return chain.Build(certificate) ? true : throw new AuthenticationException(
            $"The proxy's certificate, {certificate.Subject}, is invalid with the authorities in {_path}: "
            + $"{string.Join(", ", chain.ChainStatus.Select(status => status.Status).Distinct())}.");
    }

    private X509Certificate2Collection Known()
    {
        try
        {
            return _known = Read(_path);
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
        {
            return _known;
        }
    }

    private static X509Certificate2Collection Read(string path)
    {
        var certificates = new X509Certificate2Collection();
        certificates.ImportFromPemFile(path);
        return certificates.Count > 0 ? certificates : throw new CryptographicException("It holds no certificate.");
    }
}
