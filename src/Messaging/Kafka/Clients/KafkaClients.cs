using Billing.Hosting;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Builds Kafka clients. Errors that concern the whole client and the client's log go to the given handler and logger; without these
/// they are dropped: librdkafka would write them to standard error, which is for the errors of the program.</summary>
public static class KafkaClients
{
    /// <summary>Builds a producer.</summary>
    public static IProducer<TKey, TValue> Producer<TKey, TValue>(ProducerConfig config, Action<Error>? onError = null, ILogger? logger = null) =>
        new ProducerBuilder<TKey, TValue>(config)
            .SetErrorHandler((_, e) => onError?.Invoke(e)).SetLogHandler((_, m) => Log(logger, m))
            .SetStatisticsHandler((_, json) => ClientStatistics.Record(json)).Build();

    /// <summary>Builds a producer whose fatal errors are failures of <paramref name="owner"/>, which stop the process.</summary>
    internal static IProducer<string, byte[]> Producer(ProducerConfig config, string owner, Supervisor supervisor, ILogger logger)
    {
        return Producer<string, byte[]>(config, FailIfFatal, logger);

        void FailIfFatal(Error error)
        {
            KafkaLog.Error(logger, error);
            if (error.IsFatal)
            {
                supervisor.Fail(owner, new KafkaException(error));
            }
        }
    }

    /// <summary>Builds a consumer.</summary>
    public static IConsumer<TKey, TValue> Consumer<TKey, TValue>(
        ConsumerConfig config, Action<Error>? onError = null, ILogger? logger = null, Action<ConsumerBuilder<TKey, TValue>>? configure = null)
    {
        var builder = new ConsumerBuilder<TKey, TValue>(config)
            .SetErrorHandler((_, e) => onError?.Invoke(e)).SetLogHandler((_, m) => Log(logger, m))
            .SetStatisticsHandler((_, json) => ClientStatistics.Record(json));
        configure?.Invoke(builder);
        return builder.Build();
    }

    /// <summary>Builds a client for the administration of topics, groups and access.</summary>
    public static IAdminClient Admin(AdminClientConfig config, Action<Error>? onError = null, ILogger? logger = null) =>
        new AdminClientBuilder(config).SetErrorHandler((_, e) => onError?.Invoke(e)).SetLogHandler((_, m) => Log(logger, m)).Build();

    private static void Log(ILogger? logger, LogMessage message)
    {
        if (logger is not null)
        {
            KafkaLog.ClientLog(logger, message.Facility, message.Message);
        }
    }
}

/// <summary>Classifies errors of the Kafka client.</summary>
internal static class KafkaErrors
{
    /// <summary>Whether the brokers or the client report that the topic or partition does not exist.</summary>
    public static bool IsUnknownTopic(this Error error) => error.Code
        is ErrorCode.UnknownTopicOrPart or ErrorCode.Local_UnknownTopic or ErrorCode.Local_UnknownPartition;

    /// <summary>Whether the record is larger than the brokers or the client allow.</summary>
    public static bool IsTooLarge(this Error error) => error.Code
        is ErrorCode.MsgSizeTooLarge or ErrorCode.RecordListTooLarge or ErrorCode.InvalidMsgSize;
}
