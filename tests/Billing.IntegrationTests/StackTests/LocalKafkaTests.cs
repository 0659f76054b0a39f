using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Confluent.Kafka.Admin;

namespace Billing.IntegrationTests.StackTests;

[Collection(SequentialStackTests.Name)]
public sealed class LocalKafkaTests
{
    private const string Topic = "stack-test";
    private const string Reason =
        "Kafka is not available: set BILLING_KAFKA_ARCHIVE to its archive and run ./billing test, or set KAFKA_HOME";

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task One_broker_delivers_a_message_rejects_one_for_a_missing_topic_and_leaves_no_processes_or_files()
    {
        SkipWithoutKafka();
        var folder = StackFolder.Create();
        using var ports = new FreePorts();
        var kafka = await LocalKafka.StartNewAsync(folder, ports, cancellationToken: Cancellation);
        ProcessIdentity[] processes = [.. kafka.Processes.Select(process => process.Identity)];
        await CreateTopicAsync(kafka);
        await ProduceAsync(kafka, "hello");
        Assert.Equal(["hello"], Consume(kafka, 1));
        var misspelt = await Assert.ThrowsAsync<ProduceException<Null, string>>(
            () => ProduceAsync(kafka, "lost", "misspelt", TimeSpan.FromMilliseconds(500)));
        Assert.Contains(misspelt.Error.Code, new[] { ErrorCode.UnknownTopicOrPart, ErrorCode.Local_UnknownTopic });

        await kafka.DisposeAsync();
        await folder.DisposeAsync();
        Assert.Single(processes);
        Assert.DoesNotContain(processes, process => process.IsRunning);
        Assert.False(Directory.Exists(folder.FullName));
    }

    [Fact]
    public async Task Three_brokers_continue_when_one_is_killed_and_accept_it_after_a_restart()
    {
        SkipWithoutKafka();
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var kafka = await LocalKafka.StartNewAsync(folder, ports, 3, cancellationToken: Cancellation);
        await CreateTopicAsync(kafka);
        await ProduceAsync(kafka, "before");

        kafka.KillBroker(1);
        await ProduceAsync(kafka, "without");
        await kafka.StartBrokerAsync(1, Cancellation);
        await ProduceAsync(kafka, "after");
        Assert.Equal(["after", "before", "without"], Consume(kafka, 3).Order());
    }

    [Fact]
    public async Task Java_starts_Kafka_with_the_classes_that_it_has_kept()
    {
        SkipWithoutKafka();
        await using var folder = StackFolder.Create();
        var file = Path.Combine(folder.FullName, "classes.jsa");

        await KafkaClassData.WriteAsync(file, Cancellation);

        var kafka = KafkaInstallation.Find();
        // With -Xshare:on, Java ends if it cannot use the file.
        (await ExternalTool.RunAsync(kafka.Java, ["-Xshare:on", "-XX:SharedArchiveFile="
            + file, "-XX:+UseSerialGC", "-cp", kafka.Libraries, "kafka.Kafka", "--version"])).Succeeded();
        Assert.False(File.Exists(file + ".new"));
    }

    private static void SkipWithoutKafka() =>
        Assert.SkipUnless(KafkaPrograms.FindHome() is not null && KafkaPrograms.FindJava() is not null, Reason);

    private static async Task CreateTopicAsync(LocalKafka kafka)
    {
        using var administration = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = kafka.BootstrapServers });
        await administration.CreateTopicsAsync(
            [new TopicSpecification { Name = Topic, NumPartitions = -1, ReplicationFactor = -1 }],
            new CreateTopicsOptions { OperationTimeout = Patience, RequestTimeout = Patience });
        // The broker that answers may not have the metadata of the topic yet.
        var topic = await Poll.UntilAsync(
            () => Task.FromResult(Assert.Single(administration.GetMetadata(Topic, Patience).Topics)),
            topic => topic.Partitions.Count > 0);
        Assert.Equal(5, topic.Partitions.Count);
        Assert.All(
            topic.Partitions,
            partition => Assert.Equal(kafka.BootstrapServers.Split(',').Length, partition.Replicas.Length));
    }

    private static async Task ProduceAsync(
        LocalKafka kafka, string value, string topic = Topic, TimeSpan? patience = null)
    {
        using var producer = KafkaClients.Producer<Null, string>(new ProducerConfig
        {
            BootstrapServers = kafka.BootstrapServers,
            Acks = Acks.All,
            EnableIdempotence = true,
            TopicMetadataPropagationMaxMs = (int)(patience ?? Patience).TotalMilliseconds,
        });
        await producer.ProduceAsync(topic, new Message<Null, string> { Value = value }, Cancellation);
    }

    private static List<string> Consume(LocalKafka kafka, int count)
    {
        using var consumer = KafkaClients.Consumer<Ignore, string>(new ConsumerConfig
        {
            BootstrapServers = kafka.BootstrapServers,
            GroupId = "stack-test",
            AutoOffsetReset = AutoOffsetReset.Earliest,
        });
        consumer.Subscribe(Topic);
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(Cancellation);
        bound.CancelAfter(Patience);
        var values = new List<string>();
        while (values.Count < count)
        {
            values.Add(consumer.Consume(bound.Token).Message.Value);
        }

        consumer.Close();
        return values;
    }
}
