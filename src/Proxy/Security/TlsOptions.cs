namespace Billing.Proxy.Security;

/// <summary>How a proxy proves who it is, and asks its callers to; section <c>Billing:Tls</c>. It is used at the addresses
/// that begin with <c>https</c>. The files may be replaced while the proxy runs: new connections get the new ones.</summary>
public sealed class TlsOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Tls";

    /// <summary>The certificate in PEM, its intermediate certificates after it; empty: there is no TLS.</summary>
    public string CertificateFile { get; set; } = "";

    /// <summary>Its private key in PEM; empty: it is in the certificate's file.</summary>
    public string KeyFile { get; set; } = "";

    /// <summary>The password of the private key; empty: the key is not encrypted.</summary>
    public string KeyPassword { get; set; } = "";

    /// <summary>The certificates in PEM of whoever signs those of callers; empty: callers are not asked for one.</summary>
    public string ClientCaFile { get; set; } = "";

    /// <summary>Whether a caller without a certificate is turned away; otherwise one that has none may prove itself by a
    /// token.</summary>
    public bool RequireClientCertificate { get; set; }

    /// <summary>Whether there is TLS.</summary>
    public bool IsOn => CertificateFile.Length > 0;

    /// <summary>Whether a caller may prove who it is by a certificate.</summary>
    public bool KnowsClients => ClientCaFile.Length > 0;

    /// <summary>What is wrong with the settings, naming each. The files are read when the proxy starts.</summary>
    public IEnumerable<string> Problems()
    {
        foreach (var (name, file) in (ReadOnlySpan<(string, string)>)[(nameof(CertificateFile), CertificateFile), (nameof(KeyFile), KeyFile), (nameof(ClientCaFile), ClientCaFile)])
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
            return [$"{Section}:RequireClientCertificate needs {Section}:ClientCaFile, the certificates of whoever signs those of callers."];
        }
        return [];
    }
}
