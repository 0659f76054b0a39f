using Billing.IntegrationTests.StackTests;
using Billing.IntegrationTests.Telemetry;
using Billing.LocalStack;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Xunit.Sdk;
using Xunit.v3;

// Tests wait for processes most of the time: four threads, twice as many as cores, keep two cores busy.
[assembly: CollectionBehavior(MaxParallelThreads = 4)]
[assembly: TestCollectionOrderer(typeof(Billing.IntegrationTests.Services.LongestFirst))]

namespace Billing.IntegrationTests.Services;

/// <summary>Starts the longest collections first, so that none of them runs alone at the end.</summary>
public sealed class LongestFirst : ITestCollectionOrderer
{
    private static readonly string[] Longest =
    [
        OverFailingKafka.Name, nameof(LoadScenarios), OverKafka.Name, nameof(Measurements), InOneProcess.Name,
        SequentialStackTests.Name, nameof(EventFollowing),
        nameof(BackgroundStacks), OverTls.Name, nameof(CommandLine), nameof(ReadSideOverKafka), OverEventStore.Name,
    ];

    public IReadOnlyCollection<TTestCollection> OrderTestCollections<TTestCollection>(
        IReadOnlyCollection<TTestCollection> testCollections)
        where TTestCollection : ITestCollection =>
        [.. testCollections.OrderBy(collection => RankOf(collection.TestCollectionDisplayName))];

    private static int RankOf(string collection) =>
        Array.FindIndex(Longest, name => collection.Contains(name, StringComparison.Ordinal)) is >= 0 and var rank
            ? rank
            : Longest.Length;
}

/// <summary>Two proxies, two payment backends and two balance backends over their own Kafka.</summary>
public sealed class KafkaStack() : KafkaFixture(
    new StackOptions
    {
        Proxies = 2,
        PaymentBackends = 2,
        BalanceBackends = 2,
        // Nobody listens where the events are sent to, so that each of these metrics is exposed.
        Webhook = WebhookTarget.New("http://127.0.0.1:1/"),
        Settings = new Dictionary<string, string> { ["Billing__Kafka__StatisticsInterval"] = "00:00:02" },
    },
    OtlpReceiver.WatchAsync)
{
    /// <summary>Changes a setting of a topic; null for the brokers' default.</summary>
    public async Task SetTopicAsync(string topic, string setting, string? value)
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = Stack.BootstrapServers });
        await admin.IncrementalAlterConfigsAsync(new()
        {
            [new ConfigResource { Type = ResourceType.Topic, Name = topic }] =
                [
                    new ConfigEntry
                    {
                        Name = setting,
                        Value = value,
                        IncrementalOperation = value is null ? AlterConfigOpType.Delete : AlterConfigOpType.Set,
                    },
                ],
        });
    }
}

/// <summary>The same services in one process, over queues in memory.</summary>
public sealed class EmbeddedStack() : StackFixture(
    new StackOptions { Kafka = "embedded", PaymentBackends = 2, BalanceBackends = 2 }, OtlpReceiver.WatchAsync);

/// <summary>Tests that share one stack over Kafka and leave it unchanged.</summary>
[CollectionDefinition(Name)]
public sealed class OverKafka : ICollectionFixture<KafkaStack>
{
    public const string Name = "Over Kafka";
}

/// <summary>Tests that make parts of a stack over Kafka fail, or that produce invalid records to its topics.</summary>
[CollectionDefinition(Name)]
public sealed class OverFailingKafka : ICollectionFixture<KafkaStack>
{
    public const string Name = "Over Kafka with failures";
}

/// <summary>Tests that share one stack in one process.</summary>
[CollectionDefinition(Name)]
public sealed class InOneProcess : ICollectionFixture<EmbeddedStack>
{
    public const string Name = "In one process";
}

/// <summary>Tests that share one event store that no service uses.</summary>
[CollectionDefinition(Name)]
public sealed class OverEventStore : ICollectionFixture<EventStoreFixture>
{
    public const string Name = "Over an event store";
}

/// <summary>Tests that share one stack for each protocol of direct calls.</summary>
[CollectionDefinition(Name)]
public sealed class OverDirectCalls
    : ICollectionFixture<DirectGrpcStack>, ICollectionFixture<DirectRpcxStack>
{
    public const string Name = "By direct calls";
}

/// <summary>Tests that share one stack in which all connections use TLS.</summary>
[CollectionDefinition(Name)]
public sealed class OverTls : ICollectionFixture<SecuredStack>
{
    public const string Name = "Over TLS";
}
