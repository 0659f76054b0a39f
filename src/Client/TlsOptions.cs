namespace Billing.Client;

/// <summary>Certificates, as PEM files that are read when the client is created; section <c>Billing:Client:Tls</c>.</summary>
public sealed class TlsOptions
{
    /// <summary>The only certificate authorities trusted for the proxies' certificates; null for those that the machine trusts.
    /// </summary>
    public string? CaFile { get; set; }

    /// <summary>The client's certificate for mutual TLS, followed by its intermediate certificates; none if null.</summary>
    public string? CertificateFile { get; set; }

    /// <summary>The unencrypted private key of <see cref="CertificateFile"/>.</summary>
    public string? KeyFile { get; set; }

    internal IEnumerable<string> ValidationErrors()
    {
        foreach (var (name, path) in new[] { (nameof(CaFile), CaFile), (nameof(CertificateFile), CertificateFile), (nameof(KeyFile), KeyFile) })
        {
            if (path is not null && !File.Exists(path))
            {
                yield return $"Billing:Client:Tls:{name}: there is no file '{path}'.";
            }
        }
        if (CertificateFile is null != KeyFile is null)
        {
            yield return "Billing:Client:Tls:CertificateFile and KeyFile must be set together: one is missing.";
        }
    }
}
