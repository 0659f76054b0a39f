namespace Billing.Client;

/// <summary>All proxies, and whose turn it is. Safe from any thread.</summary>
internal sealed class ProxyPool : IDisposable
{
    private readonly Proxy[] _proxies;
    private int _turn;

    public ProxyPool(BillingClientOptions options, TimeProvider time) =>
        _proxies = [.. options.Proxies.Select(address => new Proxy(address, options, time))];

    public IReadOnlyList<Proxy> All => _proxies;

    /// <summary>Draws a turn for a new call.</summary>
    public uint NextTurn() => (uint)Interlocked.Increment(ref _turn);

    /// <summary>The proxy of a turn. One that lets calls down is passed over, which moves the turn on, unless they all do: a call
    /// is better tried in vain than not at all.</summary>
    public Proxy Choose(ref uint turn)
    {
        for (var passed = 0u; passed < _proxies.Length; passed++)
        {
            var proxy = _proxies[(turn + passed) % (uint)_proxies.Length];
            if (proxy.Circuit.LetsThrough())
            {
                turn += passed;
                return proxy;
            }
        }
        return _proxies[turn % (uint)_proxies.Length];
    }

    public void Dispose()
    {
        foreach (var proxy in _proxies)
        {
            proxy.Dispose();
        }
    }
}
