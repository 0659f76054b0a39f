using System.Text;
using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.Messaging;
using Billing.V1;
using Confluent.Kafka;

namespace Billing.IntegrationTests.Services;

/// <summary>The number of invalid records that became dead letters, as a soak counts them.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class DeadLetterCounts
{
    private readonly KafkaStack _stack;

    public DeadLetterCounts(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task Only_dead_letters_since_the_start_are_counted_and_a_missing_one_is_not()
    {
        var brokers = _stack.Stack.BootstrapServers!;
        var before = await DeadLetterCount.StartCountingAsync(brokers);
        await SendAsync(brokers, 3);
        Assert.Equal(3, await before.CountAsync(3, Patience, TimeProvider.System, CancellationToken.None));

        var since = await DeadLetterCount.StartCountingAsync(brokers);
        await SendAsync(brokers, 2);

        Assert.Equal(2, await since.CountAsync(2, Patience, TimeProvider.System, CancellationToken.None));
        Assert.Equal(2, await since.CountAsync(3, TimeSpan.Zero, TimeProvider.System, CancellationToken.None));
        Assert.Equal(5, await before.CountAsync(5, Patience, TimeProvider.System, CancellationToken.None));
    }

    private static async Task SendAsync(string brokers, int count)
    {
        using var producer = new ProducerBuilder<string, byte[]>(new ProducerConfig { BootstrapServers = brokers }).Build();
        for (var i = 0; i < count; i++)
        {
            await producer.ProduceAsync(Topics.Payments(PaymentType.Visa), BadRecords.Record("1", Encoding.UTF8.GetBytes("no command")));
        }
    }
}
