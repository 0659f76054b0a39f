namespace Billing.Proxy.Security.Tokens;

/// <summary>Keys in a file, which may be replaced while the proxy runs. It is compared by content: a file behind a
/// symbolic link may change without a change of its date.</summary>
internal sealed class KeyFile(AuthOptions options) : IKeySource
{
    private byte[] _seen = [];
    private PublishedKeys? _keys;

    public string Name => $"{AuthOptions.Section}:{nameof(AuthOptions.JwksFile)} ('{options.JwksFile}')";

    public TimeSpan Interval { get; } = TimeSpan.FromSeconds(1);

    public int Every => 1;

    public Task<PublishedKeys> ReadAsync()
    {
        var content = File.ReadAllBytes(options.JwksFile);
        if (_keys is null || !content.AsSpan().SequenceEqual(_seen))
        {
            _keys = new PublishedKeys(options.Issuer, PublishedKeys.ReadKeys(content));
            _seen = content;
        }
        return Task.FromResult(_keys);
    }

    public void Dispose()
    {
    }
}
