using System.Globalization;
using Billing.Backends.EventStore;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Npgsql;

namespace Billing.Chaos;

/// <summary>Compares the event topic with the event store: every recorded event must be published at least once. There
/// is no outbox; instead a command is settled only after its events are published. If it were settled earlier, events
/// would be missing here.</summary>
public static class EventFeed
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan AnswerBound = TimeSpan.FromSeconds(20);

    /// <summary>Reads the topic until every event of the store was read.</summary>
    /// <param name="bootstrapServers">The brokers.</param>
    /// <param name="databases">The connection strings of the event store's databases.</param>
    /// <param name="bound">The time limit for missing events; they are published when their commands
    /// are delivered again.</param>
    /// <param name="time">The clock.</param>
    /// <returns>The events that were not published, as <c>stream@version</c>.</returns>
    public static async Task<IReadOnlyList<string>> MissingAsync(
        string bootstrapServers, IEnumerable<string> databases, TimeSpan bound,
        TimeProvider time, CancellationToken cancellationToken)
    {
        var missing = await RecordedAsync(databases, cancellationToken);
        await Task.Run(
            () => RemovePublished(missing, bootstrapServers, bound, time, cancellationToken), cancellationToken);
        return
        [
            .. missing.Select(e => string.Create(CultureInfo.InvariantCulture, $"{e.Stream}@{e.Version}"))
                .Order(StringComparer.Ordinal),
        ];
    }

    private static void RemovePublished(
        HashSet<(string Stream, long Version)> missing, string bootstrapServers, TimeSpan bound, TimeProvider time,
        CancellationToken cancellationToken)
    {
        using var consumer = KafkaClients.Consumer<Ignore, byte[]>(new ConsumerConfig
        {
            BootstrapServers = bootstrapServers,
            ClientId = "billing-chaos",
            GroupId = "billing-chaos",
            EnableAutoCommit = false,
        });
        consumer.Assign(Partitions(bootstrapServers));
        var start = time.GetTimestamp();
        while (missing.Count > 0 && time.GetElapsedTime(start) < bound)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (Read(consumer) is { } fact)
            {
                missing.Remove((fact.StreamId, fact.Version));
            }
        }
        consumer.Close();
    }

    private static Event? Read(IConsumer<Ignore, byte[]> consumer)
    {
        try
        {
            return consumer.Consume(PollInterval) is { Message.Value: { } value }
                ? Event.Parser.ParseFrom(value)
                : null;
        }
        catch (Exception e) when (e is ConsumeException or InvalidProtocolBufferException)
        {
            return null;
        }
    }

    private static List<TopicPartitionOffset> Partitions(string bootstrapServers)
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = bootstrapServers });
        return
        [
            .. admin.GetMetadata(Topics.Events, AnswerBound).Topics[0].Partitions
                .Select(p => new TopicPartitionOffset(Topics.Events, p.PartitionId, Offset.Beginning)),
        ];
    }

    private static async Task<HashSet<(string Stream, long Version)>> RecordedAsync(
        IEnumerable<string> databases, CancellationToken cancellationToken)
    {
        var recorded = new HashSet<(string, long)>();
        foreach (var connectionString in databases)
        {
            await using var database = NpgsqlDataSource.Create(connectionString);
            await using var command = database.CreateCommand(
                $"select stream_id, version from billing.mt_events where stream_id <> '{EventTypes.TombstoneStream}'");
            await using var rows = await command.ExecuteReaderAsync(cancellationToken);
            while (await rows.ReadAsync(cancellationToken))
            {
                recorded.Add((rows.GetString(0), rows.GetInt64(1)));
            }
        }
        return recorded;
    }
}
