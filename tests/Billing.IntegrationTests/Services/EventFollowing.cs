using System.Text;
using System.Threading.Channels;
using Billing.Hosting;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Wire.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Google.Protobuf;
using Microsoft.Extensions.Hosting.Internal;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Services;

/// <summary>A Kafka broker with the platform's topics.</summary>
public sealed class TopicsFixture : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();
    private readonly FreePorts _ports = new();
    private LocalKafka? _kafka;

    public string? Missing { get; } = KafkaPrograms.FindHome() is null
        ? "Kafka is not available: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive"
        : null;

    public LocalKafka Kafka => _kafka ?? throw new InvalidOperationException("Kafka was not started.");

    public IOptions<KafkaOptions> Options =>
        Microsoft.Extensions.Options.Options.Create(new KafkaOptions { BootstrapServers = Kafka.BootstrapServers });

    public KafkaTopics Topics => new(Options, TimeProvider.System, NullLogger<KafkaTopics>.Instance);

    public async ValueTask InitializeAsync()
    {
        if (Missing is null)
        {
            _kafka = await LocalKafka.StartNewAsync(_folder, _ports);
            await Topics.EnsureSharedAsync();
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_kafka is not null)
        {
            await _kafka.DisposeAsync();
        }
        await _folder.DisposeAsync();
        _ports.Dispose();
    }
}

/// <summary>An event follower in this process, on a real event topic.</summary>
public sealed class EventFollowing : IClassFixture<TopicsFixture>, IAsyncDisposable
{
    private readonly TopicsFixture _topics;
    private readonly RecordingModel _model = new();
    private readonly ApplicationLifetime _lifetime = new(NullLogger<ApplicationLifetime>.Instance);
    private readonly CancellationTokenSource _patience = new(Patience, TimeProvider.System);
    private readonly EventFollower _follower;
    private readonly IProducer<string, byte[]> _producer;

    public EventFollowing(TopicsFixture topics)
    {
        Assert.SkipWhen(topics.Missing is not null, topics.Missing ?? "");
        _topics = topics;
        _producer = Producer();
        _follower = new EventFollower(
            topics.Options, _model, topics.Topics, new Supervisor(_lifetime, NullLogger<Supervisor>.Instance),
            TimeProvider.System, NullLogger<EventFollower>.Instance)
        {
            PartitionsInterval = TimeSpan.FromMilliseconds(200),
        };
    }

    public async ValueTask DisposeAsync()
    {
        await _follower.StopAsync(CancellationToken.None);
        _follower.Dispose();
        _producer.Dispose();
        _patience.Dispose();
    }

    [Fact]
    public async Task Events_published_after_the_reset_are_applied_and_earlier_ones_are_not()
    {
        await ProduceAsync(Event("visa/before", 1));

        await FollowAsync();
        await ProduceAsync(Event("visa/after", 1));

        Assert.Equal(["visa/after"], await AppliedAsync(1));
        Assert.Equal(1, _model.Resets);
    }

    [Fact]
    public async Task Invalid_records_are_skipped()
    {
        await FollowAsync();

        await ProduceAsync("visa/a", Encoding.UTF8.GetBytes("this is not an event"), "1");
        await ProduceAsync("visa/a", [], "1");
        await ProduceAsync("visa/a", null, "1");
        await ProduceAsync("visa/a", Event("visa/other-version", 1).ToByteArray(), "2");
        await ProduceAsync(Event("visa/a", 1));

        Assert.Equal(["visa/a"], await AppliedAsync(1));
        Assert.False(_lifetime.ApplicationStopping.IsCancellationRequested);
    }

    [Fact]
    public async Task The_model_is_reset_if_the_topic_has_lost_the_next_events()
    {
        // After the end offsets are noted, and before the follower reads on from them.
        _model.OnReset = () =>
        {
            if (_model.Resets == 1)
            {
                DeleteUpToAsync(ProduceAsync(Event("visa/lost", 1)).GetAwaiter().GetResult()).GetAwaiter().GetResult();
            }
        };
        await FollowAsync();
        await _model.WaitForResetsAsync(2, _patience.Token);
        await ProduceAsync(Event("visa/lost", 2));

        Assert.Equal(["visa/lost"], await AppliedAsync(1));
        Assert.Equal(2, Assert.Single(_model.Applied).Version);
    }

    [Fact]
    public async Task Partitions_added_later_are_followed_from_their_beginning()
    {
        await FollowAsync();
        using var admin = Admin();

        await admin.CreatePartitionsAsync([new PartitionsSpecification { Topic = Topics.Events, IncreaseTo = 6 }]);
        await WaitUntilTheBrokerKnowsAsync(admin, partitions: 6);
        await ProduceToAsync(new TopicPartition(Topics.Events, 5), Event("visa/new", 1));
        await ProduceToAsync(new TopicPartition(Topics.Events, 0), Event("visa/old", 1));

        Assert.Equal(["visa/new", "visa/old"], await AppliedAsync(2));
    }

    [Fact]
    public async Task No_event_is_lost_when_a_broker_is_killed_and_restarted()
    {
        await FollowAsync();
        await ProduceAsync(Event("visa/a", 1));
        await AppliedAsync(1);

        _topics.Kafka.KillBroker(1);
        await _topics.Kafka.Processes.Single().WaitForExitAsync(_patience.Token);
        await _topics.Kafka.StartBrokerAsync(1);
        await ProduceAsync(Event("visa/b", 1));

        Assert.Equal(["visa/a", "visa/b"], await AppliedAsync(2));
        Assert.False(_lifetime.ApplicationStopping.IsCancellationRequested);
    }

    private async Task FollowAsync()
    {
        await _follower.StartAsync(CancellationToken.None);
        await _follower.Following.WaitAsync(_patience.Token);
    }

    private async Task<IEnumerable<string>> AppliedAsync(int count)
    {
        await _model.WaitForAsync(count, _patience.Token);
        return _model.Applied.Select(e => e.StreamId).Order(StringComparer.Ordinal);
    }

    private async Task DeleteUpToAsync(TopicPartitionOffset last)
    {
        using var admin = Admin();
        await admin.DeleteRecordsAsync([new TopicPartitionOffset(last.TopicPartition, last.Offset + 1)]);
    }

    private IProducer<string, byte[]> Producer() => KafkaClients.Producer<string, byte[]>(
        new ProducerConfig
        {
            BootstrapServers = _topics.Kafka.BootstrapServers,
            Partitioner = Partitioner.Murmur2Random,
        });

    private IAdminClient Admin() =>
        KafkaClients.Admin(new AdminClientConfig { BootstrapServers = _topics.Kafka.BootstrapServers });

    private Task<TopicPartitionOffset> ProduceAsync(Event recorded) =>
        ProduceAsync(recorded.StreamId, recorded.ToByteArray(), "1");

    private async Task<TopicPartitionOffset> ProduceAsync(string key, byte[]? value, string version) =>
        (await _producer.ProduceAsync(
            Topics.Events, Message(key, value, version), _patience.Token)).TopicPartitionOffset;

    /// <summary>Waits until the broker has the metadata of the new partitions. The controller answers before that,
    /// and a producer requests metadata from the broker.</summary>
    private Task WaitUntilTheBrokerKnowsAsync(IAdminClient admin, int partitions) =>
        _topics.Kafka.Processes.Single().WaitUntilAsync(
            _ => Task.FromResult(
                admin.GetMetadata(Topics.Events, Patience).Topics.Single().Partitions.Count == partitions),
            Patience,
            _patience.Token);

    private async Task ProduceToAsync(TopicPartition partition, Event recorded)
    {
        // A new producer, because the metadata of the shared one may not contain the partition yet.
        using var producer = Producer();
        await producer.ProduceAsync(
            partition, Message(recorded.StreamId, recorded.ToByteArray(), "1"), _patience.Token);
    }

    private static Message<string, byte[]> Message(string key, byte[]? value, string version) => new()
    {
        Key = key,
        Value = value!,
        Headers = new Headers { { WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version) } },
    };

    private static Event Event(string streamId, long version) => new()
    {
        StreamId = streamId,
        Version = version,
        TransactionId = Guid.NewGuid().ToString(),
        Balance = new V1.Money(),
    };

    private sealed class RecordingModel : IReadModel
    {
        private readonly Channel<bool> _changes = Channel.CreateUnbounded<bool>();
        private readonly List<Event> _applied = [];

        public Action OnReset { get; set; } = () => { };

        public int Resets { get; private set; }

        public IReadOnlyList<Event> Applied
        {
            get
            {
                lock (_applied)
                {
                    return [.. _applied];
                }
            }
        }

        public void Reset()
        {
            Resets++;
            OnReset();
            _changes.Writer.TryWrite(true);
        }

        public void Apply(IReadOnlyList<Event> events)
        {
            lock (_applied)
            {
                _applied.AddRange(events);
            }
            _changes.Writer.TryWrite(true);
        }

        public Task WaitForAsync(int count, CancellationToken cancellationToken) =>
            WaitAsync(() => Applied.Count >= count, cancellationToken);

        public Task WaitForResetsAsync(int count, CancellationToken cancellationToken) =>
            WaitAsync(() => Resets >= count, cancellationToken);

        private async Task WaitAsync(Func<bool> holds, CancellationToken cancellationToken)
        {
            while (!holds())
            {
                await _changes.Reader.ReadAsync(cancellationToken);
            }
        }
    }
}
