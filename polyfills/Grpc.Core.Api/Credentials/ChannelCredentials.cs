namespace Grpc.Core;

public abstract class ChannelCredentials
{
    public static ChannelCredentials Insecure { get; } = new InsecureCredentials();

    public static ChannelCredentials SecureSsl { get; } = new SslCredentials();

    public static ChannelCredentials Create(ChannelCredentials channelCredentials, CallCredentials callCredentials) =>
        new CompositeChannelCredentials(channelCredentials, callCredentials);

    public abstract void InternalPopulateConfiguration(ChannelCredentialsConfiguratorBase configurator, object state);

    private sealed class InsecureCredentials : ChannelCredentials
    {
        public override void InternalPopulateConfiguration(
            ChannelCredentialsConfiguratorBase configurator, object state) =>
            configurator.SetInsecureCredentials(state);
    }

    private sealed class CompositeChannelCredentials : ChannelCredentials
    {
        private readonly ChannelCredentials _channelCredentials;
        private readonly CallCredentials _callCredentials;

        public CompositeChannelCredentials(ChannelCredentials channelCredentials, CallCredentials callCredentials)
        {
            ArgumentNullException.ThrowIfNull(channelCredentials);
            ArgumentNullException.ThrowIfNull(callCredentials);
            _channelCredentials = channelCredentials;
            _callCredentials = callCredentials;
        }

        public override void InternalPopulateConfiguration(
            ChannelCredentialsConfiguratorBase configurator, object state) =>
            configurator.SetCompositeCredentials(state, _channelCredentials, _callCredentials);
    }
}

public abstract class ChannelCredentialsConfiguratorBase
{
    public abstract void SetInsecureCredentials(object state);

    public abstract void SetSslCredentials(
        object state,
        string? rootCertificates,
        KeyCertificatePair? keyCertificatePair,
        VerifyPeerCallback? verifyPeerCallback);

    public abstract void SetCompositeCredentials(
        object state, ChannelCredentials channelCredentials, CallCredentials callCredentials);
}
