using System.Text;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Services;

/// <summary>A topic of requests that is deleted and created again, a log that is lost, and offsets of its group that
/// are wrong, on a real Kafka: whatever happens, what is on the topic is executed.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class TopicsMadeAgain : IAsyncDisposable
{
    private static readonly string Topic = Topics.Payments(PaymentType.Mastercard);

    private readonly KafkaStack _stack;

    public TopicsMadeAgain(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync() => await _stack.RestartEndedServicesAsync();

    [Fact]
    public async Task What_comes_after_the_backends_that_saw_offsets_begin_again_were_killed_is_executed()
    {
        await ExecutedAsync(await SendAsync(300));
        await MakeAgainAsync();
        await ExecutedAsync(await SendAsync(20));

        await KillBackendsAsync();
        var accounts = await SendAsync(400);
        await _stack.RestartEndedServicesAsync();

        await ExecutedAsync(accounts);
    }

    [Fact]
    public async Task What_is_on_a_topic_made_again_while_no_backend_runs_is_executed_from_its_beginning()
    {
        await ExecutedAsync(await SendAsync(20));
        using var late = Member();
        var former = await CommittedAsync(late);
        await KillBackendsAsync();
        await MakeAgainAsync();
        var accounts = await SendAsync(60);
        // As a member that settles its last commands of the former topic too late.
        late.Commit([former]);
        await _stack.RestartEndedServicesAsync();

        await ExecutedAsync(accounts);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1)]
    public async Task What_is_on_a_topic_is_executed_if_the_group_has_lost_its_offset_or_has_one_past_the_end(
        int direction)
    {
        await ExecutedAsync(await SendAsync(20));
        await KillBackendsAsync();
        var accounts = await SendAsync(10);
        using (var wrong = Member())
        {
            wrong.Commit([new TopicPartitionOffset(Topic, 0, direction < 0 ? 0 : 100_000)]);
        }
        await _stack.RestartEndedServicesAsync();

        await ExecutedAsync(accounts);
        await ExecutedAsync(await SendAsync(10));
    }

    /// <summary>No record comes from the group's offset, which is the end of the log again.</summary>
    [Fact]
    public async Task What_is_on_a_log_that_was_lost_and_has_grown_up_to_the_offset_is_executed()
    {
        const int Count = 20;
        // No backend runs meanwhile: one that knows the former topic begins the new one again later, and so does
        // its group's offset.
        await KillBackendsAsync();
        await MakeAgainAsync();
        await _stack.RestartEndedServicesAsync();
        await ExecutedAsync(await SendAsync(Count));
        using var member = Member();
        await CommittedAsync(member, Count);
        foreach (var backend in _stack.Stack.Of(ServiceRole.PaymentBackend).ToList())
        {
            Assert.True(await backend.Process.StopAsync(Patience));
        }
        Assert.Equal(Count, (await CommittedAsync(member)).Offset.Value);
        await _stack.Stack.Kafka!.LoseLogAsync(1, Topic, 0);
        await _stack.Stack.Kafka.StartBrokerAsync(1, Stop);
        var accounts = await SendAsync(Count);
        Assert.Equal(Count, member.QueryWatermarkOffsets(new TopicPartition(Topic, 0), Patience).High.Value);
        await _stack.RestartEndedServicesAsync();

        await ExecutedAsync(accounts);
    }

    private async Task<List<string>> SendAsync(int count)
    {
        using var producer = KafkaClients.Producer<string, byte[]>(
            new ProducerConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        using var admin = new DependentAdminClientBuilder(producer.Handle).Build();
        // A proxy ignores answers to commands that it has not sent.
        var replies = admin.GetMetadata(Patience).Topics
            .First(topic => topic.Topic.StartsWith(Topics.ReplyPrefix, StringComparison.Ordinal)).Topic;
        var payments = Enumerable.Range(0, count)
            .Select(_ => StackFixture.Payment(type: PaymentType.Mastercard)).ToList();
        await Task.WhenAll(payments.Select(payment => producer.ProduceAsync(Topic, new Message<string, byte[]>
        {
            Key = payment.AccountId,
            Value = new Command
            {
                TransactionId = payment.TransactionId,
                ProxyTopic = replies,
                DeadlineUnixUs = TimeProvider.System.Microseconds() + 600_000_000,
                Payment = payment,
            }.ToByteArray(),
            Headers = new Headers { { WireFormat.VersionHeader, Encoding.ASCII.GetBytes("1") } },
        }, Stop)));
        return payments.ConvertAll(payment => payment.AccountId);
    }

    private async Task ExecutedAsync(List<string> accounts)
    {
        await Poll.UntilAsync(async () => await _stack.CountStoredAsync(accounts) >= accounts.Count);
    }

    private async Task MakeAgainAsync()
    {
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        await admin.DeleteTopicsAsync([Topic]);
        var topics = new KafkaTopics(
            Options.Create(new KafkaOptions { BootstrapServers = _stack.Stack.BootstrapServers!, Partitions = 1 }),
            TimeProvider.System, NullLogger<KafkaTopics>.Instance);
        await Poll.UntilAsync(() => !Exists(admin));
        await Poll.UntilAsync(async () =>
        {
            await topics.EnsureSharedAsync();
            return Exists(admin);
        });

        static bool Exists(IAdminClient admin) =>
            admin.GetMetadata(Topic, Patience).Topics[0].Error.Code == ErrorCode.NoError;
    }

    private async Task KillBackendsAsync()
    {
        foreach (var backend in _stack.Stack.Of(ServiceRole.PaymentBackend).ToList())
        {
            backend.Process.Kill();
            await backend.Process.WaitForExitAsync(Stop);
        }
        using var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
        // Nobody but members may commit until the group has noticed.
        await Poll.UntilAsync(async () => (await admin.DescribeConsumerGroupsAsync(
            [Groups.Payments])).ConsumerGroupDescriptions[0].Members.Count == 0);
    }

    // What is executed is committed a little later.
    private static Task<TopicPartitionOffset> CommittedAsync(IConsumer<byte[], byte[]> member, int least = 0) =>
        Poll.UntilAsync(
            () => Task.Run(() => member.Committed([new TopicPartition(Topic, 0)], Patience).Single()),
            committed => committed.Offset >= least);

    private IConsumer<byte[], byte[]> Member() => KafkaClients.Consumer<byte[], byte[]>(new ConsumerConfig
    {
        BootstrapServers = _stack.Stack.BootstrapServers,
        GroupId = Groups.Payments,
        EnableAutoCommit = false,
    });
}
