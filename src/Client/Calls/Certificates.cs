using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Billing.Client;

/// <summary>The TLS settings of connections.</summary>
internal static class Certificates
{
    /// <exception cref="ArgumentException">A file cannot be used; the message names its setting.</exception>
    public static SslClientAuthenticationOptions Load(TlsOptions options, string section)
    {
        var ssl = new SslClientAuthenticationOptions();
        if (options.CaFile is { } ca)
        {
            var trusted = Read(
                $"{section}:Tls:{nameof(TlsOptions.CaFile)}", ca, path => new TrustedAuthorities(path));
            ssl.RemoteCertificateValidationCallback = trusted.Accept;
        }
        if (options is { CertificateFile: { } certificate, KeyFile: { } key })
        {
            ssl.ClientCertificateContext = Read(
                $"{section}:Tls:{nameof(TlsOptions.CertificateFile)}", certificate, path => Own(path, key));
        }
        return ssl;
    }

    private static SslStreamCertificateContext Own(string path, string key)
    {
        var certificate = X509Certificate2.CreateFromPemFile(path, key);
        if (OperatingSystem.IsWindows())
        {
            // Schannel does not accept ephemeral keys.
            using var ephemeral = certificate;
            var exported = ephemeral.Export(X509ContentType.Pkcs12);
#if NET9_0_OR_GREATER
            certificate = X509CertificateLoader.LoadPkcs12(exported, password: null);
#else
            certificate = new X509Certificate2(exported);
#endif
        }
        var intermediates = new X509Certificate2Collection();
        intermediates.ImportFromPemFile(path);
        return SslStreamCertificateContext.Create(certificate, intermediates, offline: true);
    }

    private static T Read<T>(string setting, string path, Func<string, T> read)
    {
        try
        {
            return read(path);
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
        {
            throw new ArgumentException($"{setting}: '{path}' cannot be used: {e.Message}", e);
        }
    }
}
