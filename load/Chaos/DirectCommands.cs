using System.Collections.Concurrent;
using Billing.Backends.EventStore;
using Billing.Chaos.Faults;
using Billing.Contracts;
using Billing.Driver;
using Billing.Journals;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Google.Protobuf;
using Npgsql;

namespace Billing.Chaos;

/// <summary>Payments that are produced to the topics as a proxy does, without a deadline and without a caller that
/// retries: retries would hide a backend that loses commands. Each payment that the brokers have acknowledged must be
/// in the event store, unless it was on a topic that was deleted.</summary>
internal sealed class DirectCommands : IAsyncDisposable
{
    private const int Accounts = 200;
    private static readonly TimeSpan FlushBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(250);

    private readonly string _bootstrapServers;
    private readonly string _replyTopic;
    private readonly TimeProvider _time;
    private readonly CallClock _clock;
    private readonly Journal _journal;
    private readonly Pace _pace;
    private readonly Random _random;
    private readonly IProducer<string, byte[]> _producer;
    private readonly ConcurrentDictionary<CommandId, TopicPartitionOffset> _acknowledged = new();

    public DirectCommands(string bootstrapServers, int perSecond, int seed, string journal, TimeProvider time)
    {
        _bootstrapServers = bootstrapServers;
        _replyTopic = Topics.Replies(ProxyId.Create(time));
        _time = time;
        _clock = new CallClock(time);
        _journal = new Journal(journal);
        _pace = new Pace(perSecond, time);
        _random = new Random(seed);
        _producer = KafkaClients.Producer<string, byte[]>(new ProducerConfig
        {
            BootstrapServers = bootstrapServers,
            ClientId = "billing-chaos",
            Acks = Acks.All,
            EnableIdempotence = true,
            Partitioner = Confluent.Kafka.Partitioner.Murmur2Random,
        });
    }

    /// <summary>Number of commands that the brokers have acknowledged.</summary>
    public int Acknowledged => _acknowledged.Count;

    /// <summary>Drops the commands that may be lost with a topic that was deleted and created again.</summary>
    public void Drop(DeletedLog log)
    {
        foreach (var command in _acknowledged.Where(command => log.MayHaveLost(command.Value)))
        {
            _acknowledged.TryRemove(command);
        }
    }

    /// <summary>Sends until cancelled; returns when the brokers have acknowledged or rejected all sent
    /// commands.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        await CreateReplyTopicAsync();
        try
        {
            while (true)
            {
                await _pace.TakeTurnAsync(cancellationToken);
                Send();
            }
        }
        catch (OperationCanceledException)
        {
            await Task.Run(() => _producer.Flush(FlushBound), CancellationToken.None);
            await _journal.DisposeAsync();
        }
    }

    /// <summary>Waits until each acknowledged command is in the event store.</summary>
    /// <returns>The transaction ids of those that are still missing at the end of the bound.</returns>
    public async Task<IReadOnlyList<string>> MissingAsync(
        IReadOnlyList<string> databases, TimeSpan bound, CancellationToken cancellationToken)
    {
        var missing = _acknowledged.Keys.ToDictionary(id => id.EventId, id => id.TransactionId);
        await Poll.LastAsync(
            async () =>
            {
                foreach (var connectionString in databases)
                {
                    await RemoveRecordedAsync(connectionString, missing, cancellationToken);
                }
                return missing.Count;
            },
            count => count == 0, bound, PollInterval, cancellationToken);
        return [.. missing.Values.Select(id => id.ToString())];
    }

    private static async Task RemoveRecordedAsync(
        string connectionString, Dictionary<Guid, Guid> missing, CancellationToken cancellationToken)
    {
        await using var database = NpgsqlDataSource.Create(connectionString);
        await using var command = database.CreateCommand("select id from billing.mt_events where id = any($1)");
        command.Parameters.AddWithValue(missing.Keys.ToArray());
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            missing.Remove(rows.GetGuid(0));
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _producer.Dispose();
        await _journal.DisposeAsync();
    }

    private void Send()
    {
        var command = BadRecords.Command(_replyTopic);
        command.Payment.AccountId = "direct-" + _random.Next(Accounts);
        var id = new CommandId(
            Guid.Parse(command.TransactionId), StreamId.For(command.Payment.PaymentType, command.Payment.AccountId));
        // Nobody reads the replies: it may or may not be recorded.
        _journal.Add(JournalEntry.Failed(command.Payment, isFinal: false, _clock.Since(_clock.Now)));
        try
        {
            _producer.Produce(
                Topics.Payments(command.Payment.PaymentType),
                BadRecords.Record("1", command.ToByteArray(), command.Payment.AccountId),
                report =>
                {
                    if (!report.Error.IsError)
                    {
                        _acknowledged[id] = report.TopicPartitionOffset;
                    }
                });
        }
        catch (ProduceException<string, byte[]>)
        {
            // Not acknowledged, so it need not be in the event store.
        }
    }

    // The replies are not read, but backends publish them and would wait for a topic that does not exist.
    private async Task CreateReplyTopicAsync()
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = _bootstrapServers });
        await admin.CreateTopicsAsync(
            [new TopicSpecification { Name = _replyTopic, NumPartitions = 1, ReplicationFactor = -1 }]);
    }
}
