using Billing.LocalStack.Kafka;
using Confluent.Kafka;

namespace Billing.Chaos.Faults;

/// <summary>The faults of a broker's disk. Each ends when the broker has a new disk and what it replicates: until then,
/// the next one that is lost may be the last that has it.</summary>
internal sealed class BrokerFaults(LocalKafka brokers, TopicFaults topics, TimeProvider time, Action<string> say)
{
    private static readonly TimeSpan BetweenBits = TimeSpan.FromMilliseconds(10);

    /// <summary>Ends a broker with its disk, and starts it after a while with an empty one.</summary>
    public async Task BurnAsync(int broker, TimeSpan away, CancellationToken cancellationToken)
    {
        await brokers.BurnBrokerAsync(broker);
        await Task.Delay(away, time, cancellationToken);
        await brokers.StartBrokerAsync(broker, cancellationToken);
        await topics.WaitUntilReplicatedAsync(cancellationToken);
    }

    /// <summary>Has bits change on the disk of a broker that serves, until somebody replaces the disk.</summary>
    public async Task RotAsync(Fault fault, CancellationToken cancellationToken)
    {
        var led = await topics.LeadAsync(fault.Target, cancellationToken);
        var disk = new RottenDisk(brokers.DataOf(fault.Target), new Random(fault.Seed));
        var changed = new List<TopicPartition>();
        for (var start = time.GetTimestamp(); time.GetElapsedTime(start) < fault.Lasts;)
        {
            if (disk.ChangeBit(led) is { } partition)
            {
                changed.Add(partition);
            }
            await Task.Delay(BetweenBits, time, cancellationToken);
        }
        say($"{changed.Count} bits changed in {changed.Distinct().Count()} partitions of broker {fault.Target}, "
            + $"{changed.Count(led.Contains)} of them in {led.Count} that it led");
        await BurnAsync(fault.Target, TimeSpan.Zero, cancellationToken);
    }
}
