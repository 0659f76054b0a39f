using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.Payments;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation.Kafka;
using Billing.Simulation.Store;

namespace Billing.Simulation.Services;

/// <summary>A payment backend.</summary>
internal sealed class PaymentBackendNode : BackendNode
{
    public PaymentBackendNode(Node node, Brokers brokers, IReadOnlyList<StoreServer> databases, Settings settings)
        : base(node, brokers)
    {
        var processor = new PaymentProcessor(
            StoreClient.MapOf(node, databases), new SimulatedCardNetwork(settings.CardNetwork, node.Time), Replier,
            new EventStoreRetry(node.Time, new Random(brokers.Dice.Seed())), settings.Backend,
            node.Supervisor, node.Time, PointLogs.Instance);
        Start(processor);
        Start(new ExpiredHolds(
            [.. databases.Select(database => new StoreClient(node, database))], Publisher, settings.Backend,
            node.Supervisor, node.Time, PointLog<ExpiredHolds>.Instance));
        Join(Topics.AllPayments, Groups.Payments, settings.InFlightMax, processor);
    }
}
