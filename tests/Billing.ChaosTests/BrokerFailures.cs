using Billing.Chaos;
using Billing.Chaos.Faults;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Confluent.Kafka;
using Grpc.Core;

namespace Billing.ChaosTests;

/// <summary>The whole table of failures with three brokers. The integration tests (KafkaFailures) send garbage, other
/// wire versions and forged reply topics one by one; here they are sent together, with the largest sizes, while
/// payments continue.</summary>
[Collection(OverBrokers.Name)]
public sealed class BrokerFailures(BrokerStack stack) : FailureTable(stack)
{
    private static readonly TimeSpan SoakDuration = TimeSpan.FromSeconds(20);

    protected override ServiceRole Backend => ServiceRole.PaymentBackend;

    protected override ServiceRole Front => ServiceRole.Proxy;

    [Fact]
    public async Task Calls_of_a_killed_proxy_fail_with_UNAVAILABLE_and_the_client_retries_on_another_with_the_same_id()
    {
        var prefix = StackFixture.NewAccount();
        var requests = Enumerable.Range(0, 400).Select(i => StackFixture.Payment($"{prefix}-{i}")).ToList();
        var proxy = stack.Proxy(0);
        await proxy.MakePaymentAsync(StackFixture.Payment());
        await using var traffic = Pay();

        var calls = requests.ConvertAll(request => FailureOfAsync(proxy, request));
        await Task.WhenAny(calls);
        await KillAsync(Stack.Of(ServiceRole.Proxy).First());
        var failures = (await Task.WhenAll(calls)).OfType<RpcException>().ToList();
        var client = stack.Client();
        await Task.WhenAll(requests.Select(request => client.MakePaymentAsync(request)));

        Assert.NotEmpty(failures);
        Assert.All(failures, failure => Assert.Equal(StatusCode.Unavailable, failure.StatusCode));
        Assert.Equal(requests.Count, await stack.CountEventsAsync(prefix + "-%"));
        await Fixture.RestartEndedServicesAsync();
        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task A_killed_and_restarted_broker_of_three_only_causes_a_delay()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);

        Stack.Kafka!.KillBroker(2);
        await traffic.WaitForMoreAsync(150);
        await Stack.Kafka.StartBrokerAsync(2);
        await traffic.WaitForMoreAsync(150);

        await traffic.EndCleanAsync();
        await AllReplicasAreInSyncAsync();
    }

    [Fact]
    public async Task While_a_broker_does_not_answer_every_call_is_answered_by_way_of_the_others()
    {
        // Longer than any broker needs to take over, shorter than a Kafka client waits for an answer by default.
        var deadline = TimeSpan.FromSeconds(55);
        var proxies = Enumerable.Range(0, Stack.ProxyAddresses.Count).Select(stack.Proxy).ToList();
        await Task.WhenAll(proxies.Select(proxy => Conditions.RetryUntilAnsweredAsync(proxy, StackFixture.Payment())));
        var frozen = Stack.Kafka!.Processes.ElementAt(LeaderOf(ReplyTopicOf(Stack.Of(ServiceRole.Proxy).First())) - 1);
        var prefix = StackFixture.NewAccount();

        frozen.Pause();
        try
        {
            var calls = Enumerable.Range(0, 120).Select(i => proxies[i % proxies.Count]
                .MakePaymentAsync(
                    StackFixture.Payment($"{prefix}-{i}", type: PaymentTypes.All[i % PaymentTypes.All.Count]),
                    deadline: Conditions.In(deadline)).ResponseAsync);
            await Task.WhenAll(calls);
        }
        finally
        {
            frozen.Resume();
        }
        Assert.Equal(120, await stack.CountEventsAsync(prefix + "-%"));
        await AllReplicasAreInSyncAsync();
    }

    [Fact]
    public async Task A_backend_that_is_frozen_past_its_session_timeout_loses_its_partitions_to_others()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(150);
        var (frozen, other) =
            (Stack.Of(ServiceRole.PaymentBackend).First(), Stack.Of(ServiceRole.PaymentBackend).Last());
        var (frozenLog, otherLog) = (new LogTail(frozen.Process), new LogTail(other.Process));

        frozen.Process.Pause();
        await otherLog.WaitForAsync("Assigned billing.payments");
        await traffic.WaitForMoreAsync(150);
        frozen.Process.Resume();
        await frozenLog.WaitForAsync("Lost billing.payments", "A batch was not stored");
        await traffic.WaitForMoreAsync(150);

        await traffic.EndCleanAsync();
    }

    [Fact]
    public async Task Misplaced_records_of_every_kind_stop_nothing_and_those_on_request_topics_become_dead_letters()
    {
        await using var traffic = Pay();
        await traffic.WaitForMoreAsync(100);
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(new ConsumerConfig
        {
            BootstrapServers = Stack.BootstrapServers,
            GroupId = "test-" + Guid.NewGuid(),
            EnableAutoCommit = false,
        });
        var letters = new TopicPartition(Topics.DeadLetters, 0);
        consumer.Assign(
            new TopicPartitionOffset(letters, consumer.QueryWatermarkOffsets(letters, Conditions.Patience).High));

        var sent = (await BadRecords.SendAsync(Stack.BootstrapServers!, CancellationToken.None)).Count;
        var found = new List<ConsumeResult<byte[], byte[]>>();
        using var patience = new CancellationTokenSource(Conditions.Patience, TimeProvider.System);
        while (found.Count < sent)
        {
            // Records without an origin were sent to the dead-letter topic directly.
            var letter = consumer.Consume(patience.Token);
            if (letter.Message.Headers.TryGetLastBytes(DeadLetterPublisher.TopicHeader, out _))
            {
                found.Add(letter);
            }
        }

        Assert.All(
            found, letter => Assert.NotEmpty(letter.Message.Headers.GetLastBytes(DeadLetterPublisher.ReasonHeader)));
        var oversized =
            found.Where(l => l.Message.Headers.TryGetLastBytes(DeadLetterPublisher.TruncatedHeader, out _)).ToList();
        Assert.Equal(Topics.AllRequests.Count, oversized.Count);
        Assert.All(oversized, letter => Assert.True(letter.Message.Value.Length < BadRecords.Oversized().Length));
        Assert.Equal(0, await stack.CountEventsAsync("chaos"));
        await traffic.WaitForMoreAsync(100);
        await traffic.EndCleanAsync();
        Assert.DoesNotContain(Stack.Services, service => service.Process.HasExited);
    }

    [Fact]
    public async Task A_soak_with_a_fixed_seed_ends_clean()
    {
        var options = new ChaosOptions
        {
            Seed = 8,
            IsAlone = false,
            Duration = SoakDuration,
            Workers = 48,
            Stack = new StackOptions
            {
                Proxies = BrokerStack.Proxies,
                PaymentBackends = BrokerStack.PaymentBackends,
                BalanceBackends = BrokerStack.BalanceBackends,
                Brokers = BrokerStack.Brokers,
            },
        };
        var faults = FaultSchedule.Create(options.Seed, options.Duration, options.Targets);
        Assert.Contains(faults, fault => FaultProfile.Of(fault.Kind).Pool == FaultPool.Brokers);
        var journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
        var output = TestContext.Current.TestOutputHelper!;
        try
        {
            var soak = new Soak(Stack, options, TimeProvider.System, output.WriteLine);
            var result = await soak.RunAsync(faults, journal, CancellationToken.None);

            Assert.Empty(result.Traffic.Violations);
            Assert.Empty(result.Forgotten);
            Assert.Empty(result.Unpublished);
            Assert.Empty(result.Wrong);
            Assert.True(result.IsClean);
            Assert.Equal(result.Traffic.Payments, result.Audit.Recorded);
            await AllReplicasAreInSyncAsync();
        }
        finally
        {
            File.Delete(journal);
            File.Delete(Path.ChangeExtension(journal, ".direct.csv"));
            File.Delete(Path.ChangeExtension(journal, ".queued.csv"));
        }
    }

    private static string ReplyTopicOf(ServiceProcess proxy) => File.ReadLines(proxy.Process.LogFile)
        .Select(line => line.Split(' ')[^1])
        .Last(word => word.StartsWith(Topics.ReplyPrefix, StringComparison.Ordinal));

    private int LeaderOf(string topic)
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = Stack.BootstrapServers });
        return admin.GetMetadata(topic, Conditions.Patience).Topics.Single().Partitions.Single().Leader;
    }

    private async Task AllReplicasAreInSyncAsync()
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = Stack.BootstrapServers });
        await Poll.UntilAsync(() => Task.FromResult(
            admin.GetMetadata(Conditions.Patience).Topics.SelectMany(t => t.Partitions)
                .All(p => p.InSyncReplicas.Length == BrokerStack.Brokers)));
    }
}
