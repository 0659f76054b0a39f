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
    public PaymentBackendNode(Node node, Brokers brokers, StoreServer store, Settings settings)
        : base(node, brokers)
    {
        var client = new StoreClient(node, store);
        var retry = new EventStoreRetry(node.Time, new Random(brokers.Dice.Seed()));
        var recorder = new PaymentRecorder(client, retry, settings.Backend, node.Time, PointLog<PaymentRecorder>.Instance);
        var processor = new PaymentProcessor(
            client, recorder, new SimulatedCardNetwork(settings.CardNetwork, node.Time), Replier, retry, settings.Backend,
            node.Supervisor, node.Time, PointLog<PaymentProcessor>.Instance);
        Start(processor);
        Join(Topics.AllPayments, Groups.Payments, settings.InFlightMax, processor);
    }
}
