using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Billing.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security;

/// <summary>The server's side of TLS: its own certificate, and the validation of client certificates.</summary>
internal sealed class TlsServer
{
    // As long as the SDK waits: many handshakes at once keep a slow machine busy, and a caller that never finishes one costs a connection,
    // of which an address has a limited number.
    private static readonly TimeSpan HandshakeTimeout = TimeSpan.FromMinutes(1);

    private readonly TlsOptions _options;
    private readonly ReloadedFiles<SslStreamCertificateContext> _own;
    private readonly ReloadedFiles<X509Certificate2Collection>? _clientCa;

    public TlsServer(IOptions<TlsOptions> options, TimeProvider time, ILogger<TlsServer> logger)
    {
        _options = options.Value;
        IReadOnlyList<string> files = _options.KeyFile.Length > 0 ? [_options.CertificateFile, _options.KeyFile] : [_options.CertificateFile];
        _own = new ReloadedFiles<SslStreamCertificateContext>(files, ReadOwn, time, logger);
        if (_options.KnowsClients)
        {
            _clientCa = new ReloadedFiles<X509Certificate2Collection>([_options.ClientCaFile], ReadAuthorities, time, logger);
        }
    }

    /// <summary>Reads the files for the first time.</summary>
    /// <exception cref="StartupException">A file cannot be used.</exception>
    public void Load()
    {
        _own.Load($"{TlsOptions.Section}:{nameof(TlsOptions.CertificateFile)} ('{_options.CertificateFile}') and its key");
        _clientCa?.Load($"{TlsOptions.Section}:{nameof(TlsOptions.ClientCaFile)} ('{_options.ClientCaFile}')");
    }

    /// <summary>Sets up the addresses that begin with <c>https</c>.</summary>
    public void Configure(HttpsConnectionAdapterOptions https)
    {
        https.HandshakeTimeout = HandshakeTimeout;
        https.ServerCertificateSelector = (_, _) => _own.Value.TargetCertificate;
        https.OnAuthenticate = (_, handshake) =>
        {
            // The context includes the intermediate certificates, and follows changes of the files after the server's start.
            handshake.ServerCertificateSelectionCallback = null;
            handshake.ServerCertificateContext = _own.Value;
            if (_clientCa is not null)
            {
                var trusted = new X509ChainPolicy
                {
                    TrustMode = X509ChainTrustMode.CustomRootTrust,
                    RevocationMode = X509RevocationMode.NoCheck,
                    // A stranger's certificate would name the address, and hold a thread for as long as nothing answers there.
                    DisableCertificateDownloads = true,
                };
                trusted.CustomTrustStore.AddRange(_clientCa.Value);
                trusted.ApplicationPolicy.Add(new Oid("1.3.6.1.5.5.7.3.2", "Client authentication"));
                handshake.CertificateChainPolicy = trusted;
            }
        };
        if (_clientCa is not null)
        {
            https.ClientCertificateMode = _options.RequireClientCertificate
                ? ClientCertificateMode.RequireCertificate
                : ClientCertificateMode.AllowCertificate;
        }
    }

    private SslStreamCertificateContext ReadOwn(IReadOnlyList<byte[]> files)
    {
        var certificate = Encoding.UTF8.GetString(files[0]);
        var key = Encoding.UTF8.GetString(files[^1]);
        var own = _options.KeyPassword.Length > 0
            ? X509Certificate2.CreateFromEncryptedPem(certificate, key, _options.KeyPassword)
            : X509Certificate2.CreateFromPem(certificate, key);
        var all = new X509Certificate2Collection();
        all.ImportFromPem(certificate);
        return SslStreamCertificateContext.Create(own, [.. all.Skip(1)], offline: true);
    }

    private static X509Certificate2Collection ReadAuthorities(IReadOnlyList<byte[]> files)
    {
        var authorities = new X509Certificate2Collection();
        authorities.ImportFromPem(Encoding.UTF8.GetString(files[0]));
        return authorities.Count > 0 ? authorities : throw new CryptographicException("It holds no certificate.");
    }
}
