using System.Globalization;
using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Asks the brokers for their time and tells it to this process's <see cref="SteadyTime"/>: it writes an empty
/// record to each partition of <see cref="Topics.Clocks"/>, and the leader's acknowledgement says when it was appended.
/// The first time before the process begins its work, so that it never works with a clock that is wrong.</summary>
public sealed class BrokerClocks(
    IOptions<KafkaOptions> options, KafkaTopics topics, TimeProvider time, Supervisor supervisor,
    ILogger<BrokerClocks> logger) : Worker(supervisor)
{
    // A broker's record states whole milliseconds.
    private static readonly TimeSpan Precision = TimeSpan.FromMilliseconds(1);

    // The first answers include the time to connect.
    private const int RoundsAtStart = 2;

    private readonly SteadyTime? _steady = time as SteadyTime;
    private string? _failure;

    /// <summary>Asks them, sets the clock, and begins to ask them regularly. Brokers that do not answer in time are
    /// left to whoever needs them.</summary>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_steady is not null)
        {
            var asking = AskAtStartAsync(_steady);
            if (await Task.WhenAny(asking, Task.Delay(options.Value.StartTimeout, time, cancellationToken)) == asking)
            {
                await asking;
                _steady.Set();
            }
        }
        await base.StartAsync(cancellationToken);
    }

    /// <summary>Asks them until it is stopped.</summary>
    public override async Task RunAsync(CancellationToken stopping)
    {
        using var producer = Producer();
        using var admin = new DependentAdminClientBuilder(producer.Handle).Build();
        using var timer = new PeriodicTimer(ClockVote.AskingInterval, time);
        while (await timer.WaitForNextTickAsync(stopping))
        {
            if (_steady is not null)
            {
                await AskAsync(producer, admin, _steady);
            }
        }
    }

    private async Task AskAtStartAsync(SteadyTime steady)
    {
        try
        {
            await Task.Run(topics.EnsureClocksAsync);
        }
        catch (StartupException e)
        {
            // They may be there, and this service not be allowed to create any.
            Note(e.Message);
        }
        using var producer = Producer();
        using var admin = new DependentAdminClientBuilder(producer.Handle).Build();
        for (var round = 0; round < RoundsAtStart; round++)
        {
            await AskAsync(producer, admin, steady);
        }
    }

    private IProducer<Null, byte[]> Producer()
    {
        var config = options.Value.Producer("billing-clock", ClockVote.AnswerMax, batches: false, idempotent: false);
        config.Acks = Acks.Leader;
        config.DeliveryReportFields = "timestamp";
        return KafkaClients.Producer<Null, byte[]>(config, logger: logger);
    }

    // The metadata call blocks a thread for as long as no broker answers.
    private async Task AskAsync(IProducer<Null, byte[]> producer, IAdminClient admin, SteadyTime steady)
    {
        try
        {
            var topic = (await Task.Run(() => admin.GetMetadata(Topics.Clocks, ClockVote.AnswerMax))).Topics.Single();
            if (topic.Error.IsError)
            {
                throw new KafkaException(topic.Error);
            }
            await Task.WhenAll(topic.Partitions.Where(p => p.Leader >= 0).DistinctBy(p => p.Leader)
                .Select(p => AskAsync(producer, p, steady)));
            _failure = null;
        }
        catch (KafkaException e)
        {
            Note(e.Error.Reason);
        }
    }

    private async Task AskAsync(IProducer<Null, byte[]> producer, PartitionMetadata partition, SteadyTime steady)
    {
        var asked = time.GetTimestamp();
        var stored = await producer.ProduceAsync(
            new TopicPartition(Topics.Clocks, partition.PartitionId), new Message<Null, byte[]> { Value = [] });
        if (stored.Timestamp.Type == TimestampType.LogAppendTime)
        {
            steady.Hear(
                string.Create(CultureInfo.InvariantCulture, $"broker {partition.Leader}"),
                DateTimeOffset.FromUnixTimeMilliseconds(stored.Timestamp.UnixTimestampMs), Precision, asked,
                time.GetTimestamp());
        }
    }

    private void Note(string reason)
    {
        if (reason != _failure)
        {
            KafkaLog.BrokersTimeUnknown(logger, reason);
        }
        _failure = reason;
    }
}
