namespace Billing.Client;

/// <summary>All proxies, selected by round robin. Thread-safe.</summary>
internal sealed class ProxyPool : IDisposable
{
    private readonly Proxy[] _proxies;
    private int _turn;

    public ProxyPool(BillingClientOptions options, TimeProvider time) =>
        _proxies = [.. options.Proxies.Select(address => new Proxy(address, options, time))];

    public IReadOnlyList<Proxy> All => _proxies;

    /// <summary>Returns the turn of a new call.</summary>
    public uint NextTurn() => (uint)Interlocked.Increment(ref _turn);

    /// <summary>Returns the proxy of a turn. Proxies with an open circuit are skipped, which advances the turn. If all circuits
    /// are open, none is skipped: an attempt that may fail is better than none.</summary>
    public Proxy Choose(ref uint turn)
    {
        for (var skipped = 0u; skipped < _proxies.Length; skipped++)
        {
            var proxy = _proxies[(turn + skipped) % (uint)_proxies.Length];
            if (proxy.Circuit.TryAllowCall())
            {
                turn += skipped;
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
