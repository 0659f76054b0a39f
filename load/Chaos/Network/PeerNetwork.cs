using Billing.LocalStack.Processes;

namespace Billing.Chaos.Network;

/// <summary>The network between the servers of a cluster: a relay in front of each, which can be cut.</summary>
public sealed class PeerNetwork(int servers) : IAsyncDisposable
{
    private readonly TcpRelay[] _relays = [.. Enumerable.Range(0, servers).Select(_ => new TcpRelay())];

    /// <summary>The relays, for the options of a stack.</summary>
    public PeerRelays Relays => new([.. _relays.Select(relay => relay.Port)], ports =>
    {
        foreach (var (relay, port) in _relays.Zip(ports))
        {
            relay.Lead(port, RelayBehaviour.None);
        }
    });

    /// <summary>Cuts the connections that other servers have made to one.</summary>
    /// <param name="directions">What does not arrive.</param>
    public void CutOff(int server, Cut directions) => _relays[server - 1].CutOff(directions);

    /// <summary>Cuts all connections.</summary>
    public void CutOff(Cut directions) => Array.ForEach(_relays, relay => relay.CutOff(directions));

    /// <summary>Closes all connections.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var relay in _relays)
        {
            await relay.DisposeAsync();
        }
    }
}
