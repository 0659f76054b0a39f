using System.Text;
using Billing.Auditing;
using Billing.Contracts;
using Billing.Driver;
using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Services;

/// <summary>Real failures in Kafka and in the services that use it.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class KafkaFailures
{
    private readonly KafkaStack _stack;

    public KafkaFailures(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    [Fact]
    public async Task An_invalid_record_becomes_a_dead_letter_with_its_origin_and_bytes_and_blocks_no_other()
    {
        var garbage = Encoding.UTF8.GetBytes("this is not a command " + Guid.NewGuid());
        var request = StackFixture.Payment();

        var origin = await ProduceAsync(Topics.Payments(PaymentType.Visa), request.AccountId, garbage);
        var letter = FindDeadLetter(garbage);
        var paid = await _stack.Proxy().MakePaymentAsync(request);

        Assert.Equal(origin.Topic, Header(letter, DeadLetterPublisher.TopicHeader));
        Assert.Equal(
            origin.Partition.Value.ToString(System.Globalization.CultureInfo.InvariantCulture),
            Header(letter, DeadLetterPublisher.PartitionHeader));
        Assert.Equal(
            origin.Offset.Value.ToString(System.Globalization.CultureInfo.InvariantCulture),
            Header(letter, DeadLetterPublisher.OffsetHeader));
        Assert.Contains("not a Command", Header(letter, DeadLetterPublisher.ReasonHeader), StringComparison.Ordinal);
        Assert.Equal(request.AccountId, Encoding.UTF8.GetString(letter.Message.Key));
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
    }

    [Fact]
    public async Task A_record_of_another_wire_version_becomes_a_dead_letter()
    {
        var command = Command(StackFixture.Payment()).ToByteArray();

        await ProduceAsync(Topics.Payments(PaymentType.Visa), "any", command, version: "2");

        Assert.Contains(
            WireFormat.VersionHeader, Header(FindDeadLetter(command), DeadLetterPublisher.ReasonHeader),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_forged_reply_topic_becomes_a_dead_letter_and_nothing_is_produced_there()
    {
        var request = StackFixture.Payment();
        var command = Command(request);
        command.ProxyTopic = Topics.Payments(PaymentType.Amex);
        var before = EndOf(command.ProxyTopic);

        await ProduceAsync(Topics.Payments(PaymentType.Visa), request.AccountId, command.ToByteArray());
        var letter = FindDeadLetter(command.ToByteArray());
        await _stack.Proxy().MakePaymentAsync(StackFixture.Payment(request.AccountId));

        Assert.Contains("proxy_topic", Header(letter, DeadLetterPublisher.ReasonHeader), StringComparison.Ordinal);
        Assert.Equal(before, EndOf(command.ProxyTopic));
        Assert.Equal(1, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task An_expired_command_is_answered_and_not_recorded()
    {
        var request = StackFixture.Payment();
        var command = Command(request);
        command.CorrelationId = 42;
        command.ProxyTopic = await CreateReplyTopicAsync();
        command.DeadlineUnixUs = TimeProvider.System.Microseconds() - 1;

        await ProduceAsync(Topics.Payments(PaymentType.Visa), request.AccountId, command.ToByteArray());
        var reply = ReplyBatch.Parser.ParseFrom(First(command.ProxyTopic, _ => true).Message.Value).Replies.Single();

        Assert.Equal(42ul, reply.CorrelationId);
        Assert.Equal(ErrorReasons.CommandExpired, reply.Error.Reason);
        Assert.Equal(0, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_recorded_event_is_published_with_the_balance_after_it()
    {
        var request = StackFixture.Payment(amount: 3.21m);
        var paid = await _stack.Proxy().MakePaymentAsync(request);

        var record = First(Topics.Events, r => Encoding.UTF8.GetString(r.Message.Key) == "visa/" + request.AccountId);
        var fact = Event.Parser.ParseFrom(record.Message.Value);

        Assert.Equal(request.TransactionId, fact.TransactionId);
        Assert.Equal(paid.Version, fact.Version);
        Assert.Equal(paid.Balance, fact.Balance);
        Assert.Equal(3.21m, fact.PaymentAccepted.Amount.ToDecimal());
    }

    [Fact]
    public async Task A_payment_backend_killed_under_load_loses_and_duplicates_nothing()
    {
        await KillUnderLoadAsync(() => _stack.Stack.Of(ServiceRole.PaymentBackend).First().Process.Kill());
    }

    [Fact]
    public async Task A_proxy_killed_under_load_loses_and_duplicates_nothing()
    {
        await KillUnderLoadAsync(() => _stack.Stack.Of(ServiceRole.Proxy).First().Process.Kill());
    }

    [Fact]
    public async Task PostgreSQL_restarted_under_load_loses_and_duplicates_nothing()
    {
        // While the store is unavailable, a call may fail with an error that says so.
        await KillUnderLoadAsync(
            async () =>
            {
                var postgres = _stack.Stack.Postgres!;
                postgres.Kill();
                await postgres.Process!.WaitForExitAsync(CancellationToken.None);
                await postgres.StartAsync();
            },
            mayFail: error => error.StartsWith("Unavailable: The event store", StringComparison.Ordinal)
                || error.StartsWith("DeadlineExceeded:", StringComparison.Ordinal));
        // One payment for every topic, and so to every backend.
        foreach (var type in PaymentTypes.All)
        {
            var paid = await _stack.Client().MakePaymentAsync(StackFixture.Payment(type: type));
            Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        }
    }

    [Fact]
    public async Task A_stopping_proxy_answers_its_calls_in_flight_and_deletes_its_reply_topic()
    {
        var proxy = await _stack.Stack.AddAsync(ServiceRole.Proxy, 3, CancellationToken.None);
        using var channel = Grpc.Net.Client.GrpcChannel.ForAddress(proxy.Address);
        var client = new BillingService.BillingServiceClient(channel);
        await client.MakePaymentAsync(StackFixture.Payment());
        var topicsBefore = ReplyTopics().Count;

        var calls = Enumerable.Range(0, 200)
            .Select(_ => client.MakePaymentAsync(StackFixture.Payment()).ResponseAsync).ToList();
        await Task.WhenAny(calls);
        var stoppedItself = await proxy.Process.StopAsync(Patience);
        var answered = 0;
        foreach (var call in calls)
        {
            try
            {
                await call;
                answered++;
            }
            catch (Grpc.Core.RpcException e)
            {
                // Not accepted: the proxy had stopped accepting calls before this one arrived.
                Assert.Equal(Grpc.Core.StatusCode.Unavailable, e.StatusCode);
            }
        }

        Assert.True(stoppedItself);
        Assert.Equal(0, proxy.Process.ExitCode);
        Assert.InRange(answered, 1, 200);
        Assert.Equal(topicsBefore - 1, ReplyTopics().Count);
        await _stack.RestartEndedServicesAsync();
    }

    [Theory]
    [InlineData("billing.payments.visa")]
    [InlineData("billing.balances.visa")]
    [InlineData("billing.events")]
    public void Topics_of_a_stack_have_no_more_partitions_than_its_backends_need(string topic) =>
        Assert.Single(Partitions(topic));

    [Theory]
    [InlineData("billing-payments")]
    [InlineData("billing-balances")]
    public async Task Every_backend_of_a_stack_has_partitions(string group)
    {
        using var admin = Admin();
        // Earlier tests replace backends: the group may still be rebalancing the four topics.
        await Poll.UntilAsync(async () => (await AssignedPartitionsAsync(admin, group)).SequenceEqual([2, 2]));
    }

    [Fact]
    public async Task Offsets_are_committed_up_to_the_end_once_everything_is_answered()
    {
        var client = _stack.Client();
        await Task.WhenAll(Enumerable.Range(0, 50)
            .Select(_ => client.MakePaymentAsync(StackFixture.Payment(type: PaymentType.Discover))));
        var topic = Topics.Payments(PaymentType.Discover);

        await Poll.UntilAsync(async () => await CommittedAsync(topic) == EndOf(topic));
    }

    private async Task KillUnderLoadAsync(Action kill) => await KillUnderLoadAsync(() =>
    {
        kill();
        return Task.CompletedTask;
    });

    private async Task KillUnderLoadAsync(Func<Task> kill, Predicate<string>? mayFail = null)
    {
        var journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
        try
        {
            long failed;
            var spec = new LoadSpec
            {
                Addresses = _stack.Stack.ProxyAddresses,
                Shape = new LoadShape.Burst(6000),
                Accounts = 200,
                Journal = journal,
                Seed = 3,
                DeadlineS = 120,
            };
            await using (var load = new LoadDriver(spec, TimeProvider.System))
            {
                var running = load.RunAsync(CancellationToken.None);
                await Poll.UntilAsync(() => load.Done >= 500 || running.IsCompleted);
                await kill();
                var result = await running;
                Assert.DoesNotContain(result.Phases[0].Payments.Errors, error => mayFail?.Invoke(error.Key) != true);
                failed = result.Phases[0].Payments.Errors.Values.Sum();
            }
            var audit = await new Auditor(_stack.ConnectionString) { OpeningLimits = BillingStack.OpeningLimits }
                .RunAsync([journal], CancellationToken.None);
            Assert.Equal(6000 - failed, audit.Acknowledged);
            Assert.Empty(audit.Lost);
            Assert.Empty(audit.Doubled);
            Assert.Empty(audit.Wrong);
        }
        finally
        {
            File.Delete(journal);
            await _stack.RestartEndedServicesAsync();
        }
    }

    private static Command Command(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        ProxyTopic = Topics.Replies("nobody"),
        Payment = request,
    };

    private async Task<DeliveryResult<string, byte[]>> ProduceAsync(
        string topic, string key, byte[] value, string version = "1")
    {
        using var producer = KafkaClients.Producer<string, byte[]>(new ProducerConfig
        {
            BootstrapServers = _stack.Stack.BootstrapServers,
            Partitioner = Partitioner.Murmur2Random,
        });
        return await producer.ProduceAsync(topic, new Message<string, byte[]>
        {
            Key = key,
            Value = value,
            Headers = new Headers { { WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version) } },
        });
    }

    private ConsumeResult<byte[], byte[]> FindDeadLetter(byte[] value) =>
        First(Topics.DeadLetters, r => r.Message.Value.AsSpan().SequenceEqual(value));

    private ConsumeResult<byte[], byte[]> First(string topic, Func<ConsumeResult<byte[], byte[]>, bool> matches)
    {
        using var consumer = Consumer();
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        consumer.Assign(Partitions(topic).Select(p => new TopicPartitionOffset(topic, p, Offset.Beginning)));
        while (true)
        {
            if (consumer.Consume(patience.Token) is { Message: not null } record && matches(record))
            {
                return record;
            }
        }
    }

    private long EndOf(string topic)
    {
        using var consumer = Consumer();
        return Partitions(topic)
            .Sum(p => consumer.QueryWatermarkOffsets(new TopicPartition(topic, p), Patience).High.Value);
    }

    private async Task<long> CommittedAsync(string topic)
    {
        using var admin = Admin();
        var results = await admin.ListConsumerGroupOffsetsAsync(
            [
                new ConsumerGroupTopicPartitions(
                    "billing-payments", [.. Partitions(topic).Select(p => new TopicPartition(topic, p))]),
            ]);
        return results[0].Partitions.Sum(p => Math.Max(0, p.Offset.Value));
    }

    private static async Task<IEnumerable<int>> AssignedPartitionsAsync(IAdminClient admin, string group)
    {
        var described = await admin.DescribeConsumerGroupsAsync([group]);
        return described.ConsumerGroupDescriptions[0].Members.Select(m => m.Assignment.TopicPartitions.Count);
    }

    private List<int> Partitions(string topic)
    {
        using var admin = Admin();
        return [.. admin.GetMetadata(topic, Patience).Topics[0].Partitions.Select(p => p.PartitionId)];
    }

    private HashSet<string> ReplyTopics()
    {
        using var admin = Admin();
        return [.. admin.GetMetadata(Patience).Topics.Select(t => t.Topic).Where(Topics.IsReplyTopic)];
    }

    private async Task<string> CreateReplyTopicAsync()
    {
        var topic = Topics.Replies("test-" + Guid.NewGuid().ToString("N"));
        using var admin = Admin();
        await admin.CreateTopicsAsync(
            [new TopicSpecification { Name = topic, NumPartitions = 1, ReplicationFactor = 1 }]);
        return topic;
    }

    private IConsumer<byte[], byte[]> Consumer() => KafkaClients.Consumer<byte[], byte[]>(new ConsumerConfig
    {
        BootstrapServers = _stack.Stack.BootstrapServers,
        GroupId = "test-" + Guid.NewGuid(),
        EnableAutoCommit = false,
    });

    private IAdminClient Admin() =>
        KafkaClients.Admin(new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });

    private static string Header(ConsumeResult<byte[], byte[]> record, string name) =>
        Encoding.UTF8.GetString(record.Message.Headers.GetLastBytes(name));
}
