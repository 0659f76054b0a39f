using System.Diagnostics;
using Billing.Hosting;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Builds Kafka clients. Errors that concern the whole client and the client's log go to the given handler
/// and logger; without these they are dropped: librdkafka would write them to standard error, which is for the
/// errors of the program.</summary>
public static class KafkaClients
{
    /// <summary>The name below which a configuration holds <see cref="KafkaOptions.FormerPassword"/>;
    /// librdkafka does not know it.</summary>
    internal const string FormerPassword = "billing.former.password";

    private const string Password = "sasl.password";

    // Connections to several brokers are refused at about the same time: the first refusal changes the password of all.
    private static readonly TimeSpan ChangeMin = TimeSpan.FromSeconds(1);

    // The password that the brokers refused last.
    private static volatile string? _refused;

    /// <summary>Builds a producer.</summary>
    public static IProducer<TKey, TValue> Producer<TKey, TValue>(
        ProducerConfig config, Action<Error>? onError = null, ILogger? logger = null)
    {
        var (properties, handler) = Begin(config, onError);
        return new ProducerBuilder<TKey, TValue>(properties)
            .SetErrorHandler(handler).SetLogHandler((_, m) => Log(logger, m))
            .SetStatisticsHandler((_, json) => ClientStatistics.Record(json)).Build();
    }

    /// <summary>Builds a producer whose fatal errors are failures of <paramref name="owner"/>,
    /// which stop the process.</summary>
    internal static IProducer<string, byte[]> Producer(
        ProducerConfig config, string owner, Supervisor supervisor, ILogger logger)
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
        ConsumerConfig config, Action<Error>? onError = null, ILogger? logger = null,
        Action<ConsumerBuilder<TKey, TValue>>? configure = null)
    {
        var (properties, handler) = Begin(config, onError);
        var builder = new ConsumerBuilder<TKey, TValue>(properties)
            .SetErrorHandler(handler).SetLogHandler((_, m) => Log(logger, m))
            .SetStatisticsHandler((_, json) => ClientStatistics.Record(json));
        configure?.Invoke(builder);
        return builder.Build();
    }

    /// <summary>Builds a client for the administration of topics, groups and access.</summary>
    public static IAdminClient Admin(AdminClientConfig config, Action<Error>? onError = null, ILogger? logger = null)
    {
        var (properties, handler) = Begin(config, onError);
        return new AdminClientBuilder(properties).SetErrorHandler(handler)
            .SetLogHandler((_, m) => Log(logger, m)).Build();
    }

    /// <summary>Sends a request again while the client drops it because it gave up the broker's address. It does that
    /// when the brokers name others, which is at the latest after its first request.</summary>
    /// <param name="ask">Sends the request; a broker may carry it out each time.</param>
    /// <param name="patience">After this time the request is not sent again.</param>
    /// <exception cref="KafkaException">The request failed for another reason, or was still
    /// dropped after that time.</exception>
    internal static async Task InsistAsync(Func<Task> ask, TimeSpan patience)
    {
        for (var start = Stopwatch.GetTimestamp(); ;)
        {
            try
            {
                await ask();
                return;
            }
            catch (KafkaException e) when (e.Error.Code == ErrorCode.Local_DestroyBroker
                && Stopwatch.GetElapsedTime(start) < patience)
            {
                // Once more, at the address that the client has now.
            }
        }
    }

    // At a refusal, the next connection uses the other password: which one the brokers have is not known, and may
    // change. A client that is built then begins with it, since a consumer hears of refusals only while it consumes.
    private static (IEnumerable<KeyValuePair<string, string>> Properties, Action<IClient, Error> OnError) Begin(
        ClientConfig config, Action<Error>? onError)
    {
        if (config.FirstOrDefault(property => property.Key == FormerPassword).Value is not { } former)
        {
            return (config, (_, error) => onError?.Invoke(error));
        }
        var (used, other) =
            config.SaslPassword == _refused ? (former, config.SaslPassword) : (config.SaslPassword, former);
        var changed = 0L;
        return (
            config.Where(property => property.Key is not (FormerPassword or Password)).Append(new(Password, used)),
            Handle);

        void Handle(IClient client, Error error)
        {
            if (error.Code == ErrorCode.Local_Authentication && Stopwatch.GetElapsedTime(changed) > ChangeMin)
            {
                changed = Stopwatch.GetTimestamp();
                _refused = used;
                (used, other) = (other, used);
                client.SetSaslCredentials(config.SaslUsername, used);
            }
            onError?.Invoke(error);
        }
    }

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

    /// <summary>What is wrong, for operators; with the setting of the topic that mends it,
    /// where that is known.</summary>
    public static string Explained(this Error error) => error.Code == ErrorCode.InvalidTimestamp
        ? $"{error.Reason} ({TopicSettings.Clock} of the topic is not {TopicSettings.BrokersClock}, "
            + "and this machine's clock is wrong)"
        : error.Reason;

    /// <summary>Whether the record is larger than the brokers or the client allow.</summary>
    public static bool IsTooLarge(this Error error) => error.Code
        is ErrorCode.MsgSizeTooLarge or ErrorCode.RecordListTooLarge or ErrorCode.InvalidMsgSize;
}
