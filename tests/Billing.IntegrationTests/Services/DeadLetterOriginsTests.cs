using System.Text;
using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Confluent.Kafka;

namespace Billing.IntegrationTests.Services;

/// <summary>The search for invalid records in the dead letters, as a soak does it.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class DeadLetterOriginsTests
{
    private readonly KafkaStack _stack;

    public DeadLetterOriginsTests(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task A_record_is_found_by_its_origin_and_a_missing_one_is_named()
    {
        using var producer = KafkaClients.Producer<string, byte[]>(
            new ProducerConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        var sent = new List<TopicPartitionOffset>();
        for (var i = 0; i < 3; i++)
        {
            var record = BadRecords.Record("1", Encoding.UTF8.GetBytes("no command"));
            sent.Add((await producer.ProduceAsync(Topics.Payments(PaymentType.Visa), record)).TopicPartitionOffset);
        }
        Assert.Empty(await MissingAsync(sent, Patience));

        var other = new TopicPartitionOffset(sent[0].TopicPartition, 1_000_000);

        Assert.Equal([other], await MissingAsync([.. sent, other], TimeSpan.Zero));
    }

    private Task<IReadOnlyList<TopicPartitionOffset>> MissingAsync(List<TopicPartitionOffset> sent, TimeSpan bound) =>
        DeadLetterOrigins.MissingAsync(
            _stack.Stack.BootstrapServers!, sent, bound, CancellationToken.None);
}
