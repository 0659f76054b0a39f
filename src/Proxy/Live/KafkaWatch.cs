using Billing.Hosting;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Confluent.Kafka;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>Polls the brokers for lag, group members and dead letters while somebody watches the live page.
/// It runs in the background: brokers that do not respond block nobody.</summary>
internal sealed partial class KafkaWatch(
    IOptions<KafkaOptions> kafka, IOptions<LiveOptions> live, TimeProvider time, ILogger<KafkaWatch> logger)
{
    private volatile KafkaView? _view;
    private KafkaSurvey? _survey;
    private Task _polling = Task.CompletedTask;
    private long _polledAt;

    /// <summary>The last result; null before the first one.</summary>
    public KafkaView? View => _view;

    /// <summary>Starts a new poll if the interval has passed and none is in progress. Not thread-safe together with
    /// <see cref="Disconnect"/>: one caller at a time.</summary>
    public void Poll()
    {
        if (_polling.IsCompleted && (_survey is null || time.GetElapsedTime(_polledAt) >= live.Value.KafkaInterval))
        {
            _polledAt = time.GetTimestamp();
            var survey = _survey ??= new KafkaSurvey(kafka.Value);
            _polling = Task.Run(() => QueryAsync(survey));
        }
    }

    /// <summary>Closes the connections, unless a poll is in progress; for when nobody watches.</summary>
    public void Disconnect()
    {
        if (_survey is not null && _polling.IsCompleted)
        {
            _survey.Dispose();
            (_survey, _view) = (null, null);
        }
    }

    private async Task QueryAsync(KafkaSurvey survey)
    {
        // A part that is not permitted or not answered does not affect the others.
        var view = (_view ?? new KafkaView()) with { Problem = null };
        view = await PartAsync(survey, view, async () => view with { Topics = Of(await survey.LagAsync()) });
        view = await PartAsync(survey, view, async () => view with { Members = Of(await survey.MembersAsync()) });
        view = await PartAsync(survey, view, async () =>
        {
            var letters = await survey.DeadLettersAsync();
            return view with { DeadLetterCount = letters.Count, DeadLetters = [.. letters.Newest.Select(Of)] };
        });
        _view = view.Problem is null ? view with { At = time.GetUtcNow().ToUnixTimeMilliseconds() } : view;
    }

    private async Task<KafkaView> PartAsync(KafkaSurvey survey, KafkaView before, Func<Task<KafkaView>> query)
    {
        try
        {
            return await query();
        }
        catch (Exception e)
        {
            if (e is not (KafkaException or StartupException))
            {
                // Logged only: payments do not depend on the live page.
                Failed(e);
            }
            return before with { Problem = survey.LastError ?? e.Message };
        }
    }

    private static List<LiveTopic> Of(IReadOnlyList<PartitionLag> lag) =>
        [
            .. lag.GroupBy(l => l.Topic)
                .Select(t => new LiveTopic(t.Key, [.. t.OrderBy(l => l.Partition).Select(l => l.Lag)])),
        ];

    private static List<LiveMember> Of(IReadOnlyList<GroupMember> members) =>
    [
        .. members.Select(m => new LiveMember(m.Group, m.Id, m.Host, m.Owns
            .GroupBy(p => p.Topic)
            .ToDictionary(
                t => t.Key, t => (IReadOnlyList<int>)[.. t.Select(p => p.Partition.Value)], StringComparer.Ordinal))),
    ];

    private static LiveLetter Of(DeadLetter letter) => new(
        letter.Id.ToString(), letter.At.ToUnixTimeMilliseconds(),
        letter.Topic.Length == 0 ? "" : $"{letter.Topic}[{letter.Partition}]@{letter.Offset}",
        FailureLog.Shorten(letter.Reason));

    [LoggerMessage(1, LogLevel.Warning, "The live page could not query the brokers")]
    private partial void Failed(Exception cause);
}
