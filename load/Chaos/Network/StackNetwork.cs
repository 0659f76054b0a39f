using System.Collections.Frozen;
using Billing.LocalStack;

namespace Billing.Chaos.Network;

/// <summary>The networks of a stack that can be cut: those of its first proxy, payment backend and balance backend,
/// and those between several brokers and between several PostgreSQL servers.</summary>
public sealed class StackNetwork : IAsyncDisposable
{
    private readonly List<ServiceNetwork> _services;

    /// <summary>Creates the relays.</summary>
    /// <param name="time">The clock.</param>
    public StackNetwork(StackOptions stack, TimeProvider time)
    {
        _services =
        [
            new(ServiceRole.Proxy, stack.Brokers, 0, time),
            new(ServiceRole.PaymentBackend, stack.Brokers, stack.PostgresReplicas, time),
            new(ServiceRole.BalanceBackend, stack.Brokers, 0, time),
        ];
        Brokers = new PeerNetwork(stack.Brokers);
        Databases = new PeerNetwork(stack.PostgresReplicas);
    }

    /// <summary>The network between the brokers.</summary>
    public PeerNetwork Brokers { get; }

    /// <summary>The network between the PostgreSQL servers.</summary>
    public PeerNetwork Databases { get; }

    /// <summary>The network of the first service of a role.</summary>
    public ServiceNetwork Of(ServiceRole role) => _services.Single(network => network.Role == role);

    /// <summary>The options of the stack behind these networks.</summary>
    public StackOptions Behind(StackOptions stack) => stack with
    {
        BrokerRelayPorts = [.. _services.Select(network => network.BrokerPorts)],
        SettingsOf = (running, role, number) =>
        {
            var index = number == 1 ? _services.FindIndex(network => network.Role == role) : -1;
            return index < 0
                ? FrozenDictionary<string, string>.Empty
                : _services[index].Lead(running, running.Kafka!.RelaysOf(index));
        },
        BetweenBrokers = stack.Brokers > 1 ? Brokers.Relays : null,
        BetweenDatabases = stack.PostgresReplicas > 1 ? Databases.Relays : null,
    };

    /// <summary>Closes all connections.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var network in _services)
        {
            await network.DisposeAsync();
        }
        await Brokers.DisposeAsync();
        await Databases.DisposeAsync();
    }
}
