using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Billing.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Certificates;

/// <summary>The server's side of TLS.</summary>
internal sealed class TlsServer
{
    // As long as the SDK waits: many handshakes at once keep a slow machine busy, and a caller that never finishes one
    // costs a connection, of which an address has a limited number.
    private static readonly TimeSpan HandshakeTimeout = TimeSpan.FromMinutes(1);

    private readonly TlsOptions _options;
    private readonly ReloadedFiles<SslStreamCertificateContext> _own;
    private readonly ClientCertificates? _clients;

    public TlsServer(
        IOptions<TlsOptions> options, ClientCertificates clients, TimeProvider time, ILogger<TlsServer> logger)
    {
        _options = options.Value;
        _clients = _options.KnowsClients ? clients : null;
        IReadOnlyList<string> files =
            _options.KeyFile.Length > 0 ? [_options.CertificateFile, _options.KeyFile] : [_options.CertificateFile];
        _own = new ReloadedFiles<SslStreamCertificateContext>(files, ReadOwn, time, logger);
    }

    /// <summary>Until when its certificate is valid.</summary>
    public DateTimeOffset ValidUntil => _own.Value.TargetCertificate.NotAfter;

    /// <summary>Reads the files for the first time.</summary>
    /// <exception cref="StartupException">A file cannot be used.</exception>
    public void Load()
    {
        _own.Load(
            $"{TlsOptions.Section}:{nameof(TlsOptions.CertificateFile)} ('{_options.CertificateFile}') and its key");
        _clients?.Load();
    }

    /// <summary>Sets up the addresses that begin with <c>https</c>.</summary>
    public void Configure(HttpsConnectionAdapterOptions https)
    {
        https.HandshakeTimeout = HandshakeTimeout;
        https.ServerCertificateSelector = (_, _) => _own.Value.TargetCertificate;
        https.OnAuthenticate = (connection, handshake) =>
        {
            // The context includes the intermediate certificates, and follows changes of the files after
            // the server's start.
            handshake.ServerCertificateSelectionCallback = null;
            handshake.ServerCertificateContext = _own.Value;
            _clients?.Prepare(connection!, handshake);
        };
        _clients?.Configure(https);
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
}
