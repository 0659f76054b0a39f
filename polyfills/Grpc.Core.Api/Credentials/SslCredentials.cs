namespace Grpc.Core;

public delegate bool VerifyPeerCallback(VerifyPeerContext context);

public sealed class SslCredentials : ChannelCredentials
{
    private readonly VerifyPeerCallback? _verifyPeerCallback;

    public SslCredentials()
        : this(null, null, null)
    {
    }

    public SslCredentials(string rootCertificates)
        : this(rootCertificates, null, null)
    {
    }

    public SslCredentials(string rootCertificates, KeyCertificatePair keyCertificatePair)
        : this(rootCertificates, keyCertificatePair, null)
    {
    }

    public SslCredentials(
        string? rootCertificates, KeyCertificatePair? keyCertificatePair, VerifyPeerCallback? verifyPeerCallback)
    {
        RootCertificates = rootCertificates;
        KeyCertificatePair = keyCertificatePair;
        _verifyPeerCallback = verifyPeerCallback;
    }

    public string? RootCertificates { get; }

    public KeyCertificatePair? KeyCertificatePair { get; }

    public override void InternalPopulateConfiguration(
        ChannelCredentialsConfiguratorBase configurator, object state) =>
        configurator.SetSslCredentials(state, RootCertificates, KeyCertificatePair, _verifyPeerCallback);
}

public sealed class KeyCertificatePair
{
    public KeyCertificatePair(string certificateChain, string privateKey)
    {
        ArgumentNullException.ThrowIfNull(certificateChain);
        ArgumentNullException.ThrowIfNull(privateKey);
        CertificateChain = certificateChain;
        PrivateKey = privateKey;
    }

    public string CertificateChain { get; }

    public string PrivateKey { get; }
}

public class VerifyPeerContext
{
    internal VerifyPeerContext(string targetName, string peerPem)
    {
        TargetName = targetName;
        PeerPem = peerPem;
    }

    public string TargetName { get; }

    public string PeerPem { get; }
}
