using System.Collections.Concurrent;
using System.Net.Security;
using System.Numerics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Billing.Hosting;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Certificates;

/// <summary>Validates client certificates: they are signed by an authority that the proxy trusts, and not revoked.
/// A connection with one gets its <see cref="CertificateCaller"/>.
/// Where there are lists of revoked certificates, a connection whose certificate is revoked while it is open is ended,
/// with all its calls and streams. A list that is out of date cannot vouch for a certificate: no new connection is
/// accepted with one of that authority.</summary>
internal sealed partial class ClientCertificates(
    IOptions<TlsOptions> options, CertificateNames names, SecurityLog log, TimeProvider time,
    ILogger<ClientCertificates> logger)
    : IReadyPart, IDisposable
{
    private const int SubjectLengthMax = 200;

    private static readonly TimeSpan SweepInterval = TimeSpan.FromSeconds(1);

    // The connection whose handshake this asynchronous flow performs: the framework does not tell it to who validates.
    private static readonly AsyncLocal<ConnectionContext?> Connecting = new();

    private readonly TlsOptions _options = options.Value;
    private readonly ConcurrentDictionary<ConnectionContext, IReadOnlyList<Issued>> _open = new();

    private readonly ReloadedFiles<Trust> _trust = new(
        options.Value.ClientCrlFile.Length > 0
            ? [options.Value.ClientCaFile, options.Value.ClientCrlFile]
            : [options.Value.ClientCaFile],
        files => ReadTrust(files, names), time, logger);

    private ITimer? _sweeps;
    private long _revoked;
    private volatile string? _outOfDate;

    /// <summary>Only where nobody can connect without a certificate.</summary>
    public string? NotReadyReason => _options.RequireClientCertificate ? _outOfDate : null;

    /// <summary>When the first of the lists of revoked certificates is out of date; null if there are none.</summary>
    public DateTimeOffset? ListsValidUntil =>
        _options.ClientCrlFile.Length > 0 ? _trust.Value.Lists.Min(list => list.Until) : null;

    /// <summary>Number of connections that were refused, or ended, because their certificate is revoked.</summary>
    public long Revoked => Interlocked.Read(ref _revoked);

    /// <summary>Reads the files for the first time.</summary>
    /// <exception cref="StartupException">A file cannot be used, or lacks an authority that is listed for a
    /// name.</exception>
    public void Load()
    {
        var files = $"{TlsOptions.Section}:{nameof(TlsOptions.ClientCaFile)} ('{_options.ClientCaFile}')";
        _trust.Load(_options.ClientCrlFile.Length == 0 ? files
            : $"{files} or {TlsOptions.Section}:{nameof(TlsOptions.ClientCrlFile)} ('{_options.ClientCrlFile}')");
        if (names.Missing(_trust.Value.Authorities) is { } missing)
        {
            throw new StartupException(missing);
        }
        if (_options.ClientCrlFile.Length > 0)
        {
            Sweep();
            _sweeps = time.CreateTimer(_ => Sweep(), null, SweepInterval, SweepInterval);
        }
    }

    /// <summary>Sets up the addresses that begin with <c>https</c>.</summary>
    public void Configure(HttpsConnectionAdapterOptions https)
    {
        https.ClientCertificateMode = _options.RequireClientCertificate
            ? ClientCertificateMode.RequireCertificate
            : ClientCertificateMode.AllowCertificate;
        https.ClientCertificateValidation = (certificate, chain, errors) =>
            errors == SslPolicyErrors.None && (_options.ClientCrlFile.Length == 0 || IsNotRevoked(chain!))
            && Note(certificate, chain!);
    }

    /// <summary>Prepares a handshake.</summary>
    public void Prepare(ConnectionContext connection, SslServerAuthenticationOptions handshake)
    {
        var policy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            // The lists are those of ClientCrlFile: the framework knows only those that it downloads.
            RevocationMode = X509RevocationMode.NoCheck,
            // A stranger's certificate would name the address, and hold a thread for as long as nothing answers there.
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(_trust.Value.Authorities);
        policy.ApplicationPolicy.Add(new Oid("1.3.6.1.5.5.7.3.2", "Client authentication"));
        handshake.CertificateChainPolicy = policy;
        Connecting.Value = connection;
    }

    public void Dispose() => _sweeps?.Dispose();

    private DateTimeOffset Now => time.AgreedClock().GetUtcNow();

    private bool Note(X509Certificate2 certificate, X509Chain chain)
    {
        Connecting.Value!.Features.Set(new CertificateCaller(
            names.Identify(certificate, chain.ChainElements.Skip(1).Select(element => element.Certificate))));
        return true;
    }

    private bool IsNotRevoked(X509Chain chain)
    {
        List<Issued> certificates =
        [
            .. chain.ChainElements.Zip(chain.ChainElements.Skip(1), (one, issuer) => new Issued(
                Trust.HashOf(issuer.Certificate), RevocationList.SerialOf(one.Certificate), one.Certificate.Subject)),
        ];
        var now = Now;
        var trust = _trust.Value;
        if (certificates.Find(trust.Names) is { } revoked)
        {
            Interlocked.Increment(ref _revoked);
            log.RefusedConnection(
                UntrustedText.Printable(revoked.Subject, SubjectLengthMax), "its certificate is revoked",
                Connecting.Value?.RemoteEndPoint);
            return false;
        }
        if (!certificates.TrueForAll(
            certificate => trust.Of(certificate) is { } list && now < list.Until))
        {
            return false;
        }
        if (Connecting.Value is { } connection)
        {
            _open[connection] = certificates;
            connection.ConnectionClosed.Register(() => _open.TryRemove(connection, out _));
        }
        return true;
    }

    private void Sweep()
    {
        var trust = _trust.Value;
        foreach (var (connection, certificates) in _open)
        {
            if (certificates.FirstOrDefault(trust.Names) is { } revoked && _open.TryRemove(connection, out _))
            {
                Interlocked.Increment(ref _revoked);
                Ended(connection.RemoteEndPoint, revoked.Subject);
                connection.Abort(new ConnectionAbortedException($"The certificate of {revoked.Subject} is revoked."));
            }
        }
        var before = _outOfDate;
        _outOfDate = trust.Lists.FirstOrDefault(list => list.Until <= Now) is { } old
            ? $"the list of revoked certificates of {old.Authorities[0].Subject} is out of date" : null;
        if (_outOfDate is { } problem && problem != before)
        {
            OutOfDate(_options.ClientCrlFile, problem);
        }
    }

    private static Trust ReadTrust(IReadOnlyList<byte[]> files, CertificateNames names)
    {
        var authorities = new X509Certificate2Collection();
        authorities.ImportFromPem(Encoding.UTF8.GetString(files[0]));
        names.RequireAuthorities(authorities);
        return authorities.Count == 0 ? throw new CryptographicException("It holds no certificate.")
            : new Trust(authorities, files.Count > 1 ? RevocationList.ReadAll(files[1], [.. authorities]) : []);
    }

    [LoggerMessage(
        1, LogLevel.Warning, "A connection from {Address} is ended: the certificate of {Subject} is revoked")]
    private partial void Ended(System.Net.EndPoint? address, string subject);

    [LoggerMessage(
        2, LogLevel.Error,
        "Connections with client certificates are refused until {File} (Billing:Tls:ClientCrlFile) is "
            + "replaced: {Problem}")]
    private partial void OutOfDate(string file, string problem);

    // A certificate, by the hash of its issuer's certificate and its serial number.
    private sealed record Issued(string Issuer, BigInteger Serial, string Subject);

    private sealed class Trust(X509Certificate2Collection authorities, IReadOnlyList<RevocationList> lists)
    {
        // The newest, if there are several of one authority.
        private readonly Dictionary<string, RevocationList> _lists = lists
            .SelectMany(list => list.Authorities, (list, authority) => (Authority: HashOf(authority), List: list))
            .GroupBy(pair => pair.Authority, pair => pair.List, StringComparer.Ordinal)
            .ToDictionary(group => group.Key, group => group.MaxBy(list => list.Until)!, StringComparer.Ordinal);

        public X509Certificate2Collection Authorities => authorities;

        public IEnumerable<RevocationList> Lists => _lists.Values;

        public bool Names(Issued certificate) => Of(certificate)?.Names(certificate.Serial) == true;

        public RevocationList? Of(Issued certificate) => _lists.GetValueOrDefault(certificate.Issuer);

        public static string HashOf(X509Certificate2 authority) =>
            authority.GetCertHashString(HashAlgorithmName.SHA256);
    }
}
