using Billing.LocalStack;
using Billing.Operator.Store;
using Npgsql;

namespace Billing.Chaos.Network;

/// <summary>The network of the first service of a role: relays to every broker and, of a payment backend, to every
/// PostgreSQL server, which can be cut. The other services of the role reach them directly.</summary>
public sealed class ServiceNetwork : IAsyncDisposable
{
    private static readonly TimeSpan FlapInterval = TimeSpan.FromMilliseconds(700);

    private readonly TcpRelay[] _brokers;
    private readonly TcpRelay[] _stores;
    private readonly TimeProvider _time;

    /// <summary>Creates the relays.</summary>
    /// <param name="stores">Number of PostgreSQL servers; 0 if the connections to them cannot be cut.</param>
    /// <param name="time">The clock.</param>
    public ServiceNetwork(ServiceRole role, int brokers, int stores, TimeProvider time)
    {
        Role = role;
        _stores = [.. Enumerable.Range(0, stores).Select(_ => new TcpRelay())];
        _brokers = [.. Enumerable.Range(0, brokers).Select(_ => new TcpRelay())];
        _time = time;
    }

    /// <summary>The role of the service.</summary>
    public ServiceRole Role { get; }

    /// <summary>The port of the relay to each broker.</summary>
    public IReadOnlyList<int> BrokerPorts => [.. _brokers.Select(relay => relay.Port)];

    /// <summary>Cuts the connections to the brokers.</summary>
    public void CutBrokers(Cut directions) => Array.ForEach(_brokers, relay => relay.CutOff(directions));

    /// <summary>Cuts the connections to PostgreSQL.</summary>
    public void CutStore(Cut directions) => Array.ForEach(_stores, relay => relay.CutOff(directions));

    /// <summary>Cuts the connections to the brokers for a time, lets them through for as long, and so on.</summary>
    public async Task FlapAsync(TimeSpan lasts, CancellationToken cancellationToken)
    {
        var start = _time.GetTimestamp();
        try
        {
            for (var cut = Cut.Both; _time.GetElapsedTime(start) < lasts; cut ^= Cut.Both)
            {
                CutBrokers(cut);
                await Task.Delay(FlapInterval, _time, cancellationToken);
            }
        }
        finally
        {
            CutBrokers(Cut.None);
        }
    }

    /// <summary>Closes all connections.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var relay in _brokers.Concat(_stores))
        {
            await relay.DisposeAsync();
        }
    }

    /// <summary>Leads the relays to the servers of a stack.</summary>
    /// <param name="stack">The stack, whose servers run.</param>
    /// <param name="brokers">The port of each broker behind its relay.</param>
    /// <returns>The settings of the service.</returns>
    internal Dictionary<string, string> Lead(BillingStack stack, IReadOnlyList<int> brokers)
    {
        foreach (var (relay, port) in _brokers.Zip(brokers))
        {
            relay.Lead(port, RelayBehaviour.None);
        }
        var settings = new Dictionary<string, string>
        {
            ["Billing__Kafka__BootstrapServers"] = string.Join(',', BrokerPorts.Select(port => $"127.0.0.1:{port}")),
        };
        if (_stores.Length > 0)
        {
            var store = new NpgsqlConnectionStringBuilder(stack.ConnectionString);
            var ports = stack.Replicas?.Members.Select(member => member.Port) ?? [store.Port];
            foreach (var (relay, port) in _stores.Zip(ports))
            {
                relay.Lead(port, RelayBehaviour.None);
            }
            store.Host = string.Join(',', _stores.Select(relay => $"127.0.0.1:{relay.Port}"));
            settings[StoreServices.Settings(stack.Databases).Keys.First()] = store.ConnectionString;
        }
        return settings;
    }
}
