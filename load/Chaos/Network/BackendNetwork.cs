using Billing.LocalStack;
using Billing.LocalStack.Postgres;
using Npgsql;

namespace Billing.Chaos.Network;

/// <summary>The network of the first payment backend of a stack: relays to every broker and every PostgreSQL server, which can be cut. The other
/// services reach them directly.</summary>
public sealed class BackendNetwork : IAsyncDisposable
{
    private static readonly TimeSpan FlapInterval = TimeSpan.FromMilliseconds(700);

    private readonly TcpRelay[] _brokers;
    private readonly TcpRelay[] _stores;
    private readonly TimeProvider _time;

    /// <summary>Creates the relays.</summary>
    public BackendNetwork(int brokers, int stores, TimeProvider time)
    {
        _stores = [.. Enumerable.Range(0, stores).Select(_ => new TcpRelay())];
        _brokers = [.. Enumerable.Range(0, brokers).Select(_ => new TcpRelay())];
        _time = time;
    }

    /// <summary>The port of the relay to each broker.</summary>
    public IReadOnlyList<int> BrokerPorts => [.. _brokers.Select(relay => relay.Port)];

    /// <summary>The settings with which the stack starts a service.</summary>
    public IReadOnlyDictionary<string, string> SettingsOf(BillingStack stack, ServiceRole role, int number)
    {
        if (role != ServiceRole.PaymentBackend || number != 1)
        {
            return new Dictionary<string, string>();
        }
        foreach (var (relay, broker) in _brokers.Zip(stack.Kafka!.Relays))
        {
            relay.Lead(broker.BrokerPort, RelayBehaviour.None);
        }
        var store = new NpgsqlConnectionStringBuilder(stack.ConnectionString);
        foreach (var (relay, port) in _stores.Zip(stack.Replicas?.Members.Select(member => member.Port) ?? [store.Port]))
        {
            relay.Lead(port, RelayBehaviour.None);
        }
        store.Host = string.Join(',', _stores.Select(relay => $"127.0.0.1:{relay.Port}"));
        return new Dictionary<string, string>
        {
            ["Billing__Kafka__BootstrapServers"] = string.Join(',', BrokerPorts.Select(port => $"127.0.0.1:{port}")),
            [FurtherDatabases.Settings(stack.Databases).Keys.First()] = store.ConnectionString,
        };
    }

    /// <summary>Cuts the connections to the brokers.</summary>
    public void CutBrokers(Cut directions) => Array.ForEach(_brokers, relay => relay.CutOff(directions));

    /// <summary>Cuts the connections to PostgreSQL.</summary>
    public void CutStore(Cut directions) => Array.ForEach(_stores, relay => relay.CutOff(directions));

    /// <summary>Cuts the connections to the brokers for a time, and lets them through for as long again and again.</summary>
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
}
