namespace Billing.Client;

/// <summary>Certificates, as PEM files that are read when the client is made; section <c>Billing:Client:Tls</c>.</summary>
public sealed class TlsOptions
{
    /// <summary>The authorities that the proxies' certificates must be of, and no others; null for those that the machine
    /// trusts.</summary>
    public string? CaFile { get; set; }

    /// <summary>The client's own certificate, for mutual TLS, with those between it and its authority after it; none if null.
    /// </summary>
    public string? CertificateFile { get; set; }

    /// <summary>The private key of <see cref="CertificateFile"/>, not encrypted.</summary>
    public string? KeyFile { get; set; }

    internal IEnumerable<string> Problems()
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
            yield return "Billing:Client:Tls:CertificateFile and KeyFile come together: one is missing.";
        }
    }
}
