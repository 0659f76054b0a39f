using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;

namespace Billing.Messaging.Kafka.DeadLetters;

/// <summary>Reads the dead-letter topic up to the end that it had when the archive was opened. It uses no consumer
/// group, so reading changes nothing on the brokers. Its methods block.</summary>
public sealed class DeadLetterArchive : IDisposable
{
    private readonly TopicArchive _topic;
    private readonly List<OffsetRange> _ranges;

    /// <summary>Connects and queries the first and the end offset of each partition.</summary>
    /// <exception cref="StartupException">No broker answers, or the topic does not exist.</exception>
    public DeadLetterArchive(KafkaOptions options)
    {
        _topic = new TopicArchive(options, Topics.DeadLetters, "billing-dead-letters");
        try
        {
            _ranges = _topic.Ranges();
        }
        catch (StartupException)
        {
            _topic.Dispose();
            throw;
        }
    }

    /// <summary>Number of dead letters.</summary>
    public long Count => _ranges.Sum(r => r.End - r.Start);

    /// <summary>Returns all dead letters, those of one partition in ascending order of offsets.</summary>
    public IEnumerable<DeadLetter> Read() => Read(_ranges);

    /// <summary>Returns the newest dead letters, the newest first.</summary>
    /// <param name="limit">The largest number to return.</param>
    public IReadOnlyList<DeadLetter> ReadNewest(int limit) =>
    [
        .. Read(_ranges.Select(r => r with { Start = Math.Max(r.Start, r.End - limit) }))
            .OrderByDescending(letter => letter.At).ThenByDescending(letter => letter.Id.Offset).Take(limit),
    ];

    /// <summary>Returns the dead letter with an id; null if there is none.</summary>
    public DeadLetter? Find(DeadLetterId id) =>
        _ranges.Find(r => r.Partition == id.Partition && r.Start <= id.Offset && id.Offset < r.End) is { } range
            ? Read([range with { Start = id.Offset, End = id.Offset + 1 }]).FirstOrDefault(letter => letter.Id == id)
            : null;

    /// <inheritdoc/>
    public void Dispose() => _topic.Dispose();

    private IEnumerable<DeadLetter> Read(IEnumerable<OffsetRange> ranges) => _topic.Read(ranges).Select(DeadLetter.Of);
}
