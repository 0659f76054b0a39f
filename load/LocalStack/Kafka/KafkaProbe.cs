using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.LocalStack.Kafka;

/// <summary>Asks a broker for the brokers that are serving. This does not need the logs, whose texts differ
/// between distributions.</summary>
internal static class KafkaProbe
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(1);

    /// <summary>Returns the ids of the brokers that are serving according to one broker;
    /// none if it does not answer.</summary>
    public static Task<int[]> ServingBrokersAsync(string address, CancellationToken cancellationToken) =>
        Task.Run(() => ServingBrokers(address), cancellationToken);

    private static int[] ServingBrokers(string address)
    {
        // A new client each time, since one that knows the other brokers might ask those.
        var config =
            new AdminClientConfig { BootstrapServers = address, ReconnectBackoffMs = 50, ReconnectBackoffMaxMs = 100 };
        using var client = KafkaClients.Admin(config);
        try
        {
            return [.. client.GetMetadata(Bound).Brokers.Select(broker => broker.BrokerId)];
        }
        catch (KafkaException)
        {
            return [];
        }
    }
}
