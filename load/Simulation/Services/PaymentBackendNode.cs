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
        var lanes = databases.Select(database =>
        {
            var client = new StoreClient(node, database);
            var retry = new EventStoreRetry(node.Time, new Random(brokers.Dice.Seed()));
            var recorder = new PaymentRecorder(client, retry, settings.Backend, node.Time, PointLog<PaymentRecorder>.Instance);
            return new PaymentLane(client, recorder, retry, settings.Backend, node.Time, PointLog<PaymentLane>.Instance);
        }).ToList();
        var processor = new PaymentProcessor(
            lanes, StoreClient.MapOf(node, databases), new SimulatedCardNetwork(settings.CardNetwork, node.Time), Replier, settings.Backend,
            node.Supervisor, node.Time, PointLog<PaymentProcessor>.Instance);
        Start(processor);
        Start(new ExpiredHolds(
            [.. databases.Select(database => new StoreClient(node, database))], Publisher, settings.Backend, node.Supervisor, node.Time,
            PointLog<ExpiredHolds>.Instance));
        Join(Topics.AllPayments, Groups.Payments, settings.InFlightMax, processor);
    }
}
