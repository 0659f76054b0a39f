using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Offsets;

/// <summary>The ids that the brokers gave topics when they were created. A topic that is deleted and created
/// again has another id, and offsets of the former one mean nothing in it; its name and its offsets alone do not
/// tell. Not thread-safe.</summary>
/// <param name="topics">The topics.</param>
/// <param name="ask">Asks the brokers for the ids of those topics that exist.</param>
/// <param name="interval">How often they are asked.</param>
/// <param name="time">The clock.</param>
/// <param name="logger">Gets what goes wrong.</param>
internal sealed class TopicIds(
    IReadOnlyList<string> topics, Func<IReadOnlyList<string>, Task<IReadOnlyDictionary<string, string>>> ask,
    TimeSpan interval, TimeProvider time, ILogger logger)
{
    private readonly Dictionary<string, string> _known = new(StringComparer.Ordinal);
    private readonly HashSet<string> _changed = new(StringComparer.Ordinal);
    private Task<IReadOnlyDictionary<string, string>>? _asked;
    private long? _askedAt;

    /// <summary>The id of a topic; null if it is not known.</summary>
    public string? Of(string topic) => _known.GetValueOrDefault(topic);

    /// <summary>Asks for the ids of topics that are not known yet, and waits for them;
    /// of a topic that does not exist there is none.</summary>
    /// <exception cref="KafkaException">The brokers do not answer.</exception>
    public void Require(IEnumerable<string> wanted)
    {
        if (wanted.All(_known.ContainsKey))
        {
            return;
        }
        try
        {
            Compare(ask(topics).GetAwaiter().GetResult());
        }
        catch (Exception e) when (e is not KafkaException)
        {
            throw new KafkaException(new Error(ErrorCode.Local_Fail, e.Message), e);
        }
    }

    /// <summary>The topics that were created again since this began.</summary>
    public IReadOnlySet<string> Changed()
    {
        if (_asked is null && (_askedAt is null || time.GetElapsedTime(_askedAt.Value) >= interval))
        {
            (_asked, _askedAt) = (ask(topics), time.GetTimestamp());
        }
        if (_asked?.IsCompleted == true)
        {
            if (_asked.Exception is { } e)
            {
                KafkaLog.ClientError(
                    logger, "The ids of the topics could not be queried: " + e.GetBaseException().Message);
            }
            else
            {
                Compare(_asked.Result);
            }
            _asked = null;
        }
        return _changed;
    }

    /// <summary>Asks real brokers.</summary>
    public static Func<IReadOnlyList<string>, Task<IReadOnlyDictionary<string, string>>> From(IAdminClient admin) =>
        async topics =>
        {
            List<TopicDescription> described;
            try
            {
                described = (await admin.DescribeTopicsAsync(
                    TopicCollection.OfTopicNames(topics),
                    new DescribeTopicsOptions { RequestTimeout = KafkaTimes.Question })).TopicDescriptions;
            }
            catch (DescribeTopicsException e)
            {
                // Some do not exist at present.
                described = e.Results.TopicDescriptions;
            }
            return described.Where(topic => !topic.Error.IsError)
                .ToDictionary(topic => topic.Name, topic => topic.TopicId.ToString(), StringComparer.Ordinal);
        };

    private void Compare(IReadOnlyDictionary<string, string> found)
    {
        foreach (var (topic, id) in found)
        {
            if (!_known.TryAdd(topic, id) && _known[topic] != id && _changed.Add(topic))
            {
                KafkaLog.TopicMadeAgain(logger, topic, _known[topic], id);
            }
        }
    }
}
