namespace Billing.Proxy.Security;

/// <summary>The certificates of a proxy and of its callers; section <c>Billing:Tls</c>. TLS is used at the
/// addresses that begin with <c>https</c>. The files may be replaced while the proxy runs: new connections
/// use the new ones.</summary>
internal sealed class TlsOptions
{
    public const string Section = "Billing:Tls";

    /// <summary>The certificate in PEM, followed by its intermediate certificates; empty for no TLS.</summary>
    public string CertificateFile { get; set; } = "";

    /// <summary>Its private key in PEM; empty if it is in the certificate's file.</summary>
    public string KeyFile { get; set; } = "";

    /// <summary>The password of the private key; empty if the key is not encrypted.</summary>
    public string KeyPassword { get; set; } = "";

    /// <summary>The certificates, in PEM, of the authorities that sign client certificates;
    /// empty if callers have none.</summary>
    public string ClientCaFile { get; set; } = "";

    /// <summary>The lists of the certificates that these authorities have revoked (RFC 5280), one of each:
    /// in PEM, or one in DER; empty if no certificate is revoked.</summary>
    public string ClientCrlFile { get; set; } = "";

    /// <summary>Whether a caller without a certificate is refused; otherwise it may
    /// authenticate with a token.</summary>
    public bool RequireClientCertificate { get; set; }

    /// <summary>Whether TLS is configured.</summary>
    public bool IsOn => CertificateFile.Length > 0;

    /// <summary>Whether callers may authenticate with a client certificate.</summary>
    public bool KnowsClients => ClientCaFile.Length > 0;

    // The files' contents are checked later, at startup.
    public IEnumerable<string> ValidationErrors()
    {
        foreach (var (name, file) in (ReadOnlySpan<(string, string)>)
        [
            (nameof(CertificateFile), CertificateFile), (nameof(KeyFile), KeyFile),
            (nameof(ClientCaFile), ClientCaFile), (nameof(ClientCrlFile), ClientCrlFile),
        ])
        {
            if (file.Length > 0 && !File.Exists(file))
            {
                return [$"{Section}:{name}: there is no file '{file}'."];
            }
        }
        if (!IsOn && (KeyFile.Length > 0 || KnowsClients || RequireClientCertificate))
        {
            return [$"{Section}:CertificateFile is missing; the other settings of {Section} need it."];
        }
        if (RequireClientCertificate && !KnowsClients)
        {
            return
            [
                $"{Section}:RequireClientCertificate needs {Section}:ClientCaFile, the certificates of the authorities "
                    + "that sign client certificates.",
            ];
        }
        if (ClientCrlFile.Length > 0 && !KnowsClients)
        {
            return
            [
                $"{Section}:ClientCrlFile needs {Section}:ClientCaFile, the certificates of the authorities that "
                    + "revoke client certificates.",
            ];
        }
        return [];
    }
}
