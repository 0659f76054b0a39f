using System.Text;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Google.Protobuf;
using Npgsql;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Services;

/// <summary>Three balance replicas, each with its own view that follows the event topic.</summary>
public sealed class ReadSideOverKafka(ThreeReplicas stack)
    : ReadSideBehaviour(stack, 5_000), IClassFixture<ThreeReplicas>
{
    [Fact]
    public async Task Replicas_that_were_killed_and_restarted_serve_the_same_balances()
    {
        var client = stack.Client();
        var payments = Enumerable.Range(1, 200).Select(n => StackFixture.Payment(amount: n)).ToList();
        await Task.WhenAll(payments.Select(p => client.MakePaymentAsync(p)));
        var before = await Task.WhenAll(payments.Select(p => client.CheckBalanceAsync(Check(p.AccountId, 1))));

        foreach (var replica in stack.Stack.Of(ServiceRole.BalanceBackend).ToList())
        {
            replica.Process.Kill();
            await replica.Process.WaitForExitAsync(CancellationToken.None);
        }
        await Task.WhenAll(Enumerable.Range(1, 3).Select(
            n => stack.Stack.AddAsync(ServiceRole.BalanceBackend, n, CancellationToken.None)));
        var after = await Task.WhenAll(payments.Select(p => client.CheckBalanceAsync(Check(p.AccountId, 0))));

        foreach (var balance in before.Concat(after))
        {
            balance.ReadTime = null;
        }
        Assert.Equal(before, after);
    }

    [Fact]
    public async Task A_duplicate_event_and_one_after_a_gap_change_no_balance_and_the_next_payment_is_applied()
    {
        var client = stack.Client();
        var account = StackFixture.NewAccount();
        var paid = await client.MakePaymentAsync(StackFixture.Payment(account));
        await client.MakePaymentAsync(StackFixture.Payment(account));
        var duplicate = Accepted(account, 1, 10, paid.Balance, paid.TransactionId);
        var gapped = Accepted(account, 9, 10, 90m.ToMoney("USD"), Guid.NewGuid().ToString());

        await PublishAsync(duplicate);
        await PublishAsync(gapped);
        await PublishAsync(duplicate);
        await PublishAsync(gapped, version: "2");
        var third = await client.MakePaymentAsync(StackFixture.Payment(account));

        Assert.Equal(3, third.Version);
        Assert.Equal(30, (await WaitForViewAsync(account, 3)).Balance.ToDecimal());
    }

    [Fact]
    public async Task An_event_missing_on_the_topic_is_read_from_the_store_when_the_next_event_reveals_the_gap()
    {
        var client = stack.Client();
        var account = StackFixture.NewAccount();
        var first = await client.MakePaymentAsync(StackFixture.Payment(account));
        await WaitForViewAsync(account, 1);
        await AppendUnpublishedAsync("visa/" + account);

        await PublishAsync(Accepted(account, 3, 10, 30m.ToMoney("USD"), Guid.NewGuid().ToString()));

        Assert.Equal(first.Balance.ToDecimal() * 2, (await WaitForViewAsync(account, 2)).Balance.ToDecimal());
    }

    [Fact]
    public async Task Pages_of_a_statement_are_answered_over_the_topic_of_balance_checks()
    {
        var client = stack.Client();
        var account = StackFixture.NewAccount();
        for (var n = 1; n <= 5; n++)
        {
            await client.MakePaymentAsync(StackFixture.Payment(account, n));
        }
        var topic = await CreateReplyTopicAsync();

        var first = await RequestAsync(
            topic, 1, new StatementPageRequest { AccountId = account, PaymentType = PaymentType.Visa, Limit = 3 });
        var second = await RequestAsync(topic, 2, new StatementPageRequest
        {
            AccountId = account,
            PaymentType = PaymentType.Visa,
            AfterVersion = 3,
            Limit = 3,
            Opening = first.Statement.Closing,
        });

        Assert.Equal([1, 2, 3], first.Statement.Entries.Select(e => e.Version));
        Assert.Equal([1m, 3m, 6m], first.Statement.Entries.Select(e => e.Balance.ToDecimal()));
        Assert.True(first.Statement.HasMore);
        Assert.Equal([10m, 15m], second.Statement.Entries.Select(e => e.Balance.ToDecimal()));
        Assert.False(second.Statement.HasMore);
        Assert.Equal(15m, second.Statement.Closing.Balance.ToDecimal());
    }

    [Fact]
    public async Task An_expired_check_and_an_expired_statement_are_answered_as_expired()
    {
        var topic = await CreateReplyTopicAsync();
        var account = StackFixture.NewAccount();
        var commands = new[]
        {
            new Command { Balance = Check(account, 5) },
            new Command
            {
                Statement = new StatementPageRequest { AccountId = account, PaymentType = PaymentType.Visa, Limit = 1 },
            },
        };

        for (var n = 0; n < commands.Length; n++)
        {
            commands[n].DeadlineUnixUs = TimeProvider.System.Microseconds() - 1;
            var reply = await RequestAsync(topic, (ulong)(n + 1), commands[n]);
            Assert.Equal(ErrorReasons.CommandExpired, reply.Error.Reason);
        }
    }

    private static CheckBalanceRequest Check(string account, long minVersion) =>
        new() { AccountId = account, PaymentType = PaymentType.Visa, MinVersion = minVersion };

    /// <summary>Waits until the view has the version. The checks have no min_version, so they do not cause a read from
    /// the event store themselves.</summary>
    private async Task<CheckBalanceResponse> WaitForViewAsync(string account, long version)
    {
        var client = stack.Client();
        var balance = await Poll.UntilAsync(
            () => client.CheckBalanceAsync(Check(account, 0)), balance => balance.Version >= version);
        Assert.Equal(version, balance.Version);
        return balance;
    }

    private static Event Accepted(
        string account, long version, decimal amount, Money balance, string transactionId) => new()
        {
            StreamId = "visa/" + account,
            Version = version,
            TransactionId = transactionId,
            DecidedUnixUs = TimeProvider.System.Microseconds(),
            Balance = balance,
            PaymentAccepted = new PaymentAccepted { Amount = amount.ToMoney("USD") },
        };

    private async Task AppendUnpublishedAsync(string streamId)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var append = database.CreateCommand("""
            with moved as (update billing.mt_streams set version = 2 where id = $1)
            insert into billing.mt_events (seq_id, id, stream_id, version, data, type, mt_dotnet_type)
            select nextval('billing.mt_events_sequence'), gen_random_uuid(), stream_id, 2,
                jsonb_set(data, '{Balance}', to_jsonb(2 * (data->>'Amount')::numeric)), type, mt_dotnet_type
            from billing.mt_events where stream_id = $1 and version = 1
            """);
        append.Parameters.AddWithValue(streamId);
        Assert.Equal(1, await append.ExecuteNonQueryAsync());
    }

    private Task PublishAsync(Event recorded, string version = "1") =>
        ProduceAsync(Topics.Events, recorded.StreamId, recorded.ToByteArray(), version);

    private Task<Reply> RequestAsync(string replyTopic, ulong id, StatementPageRequest request) =>
        RequestAsync(replyTopic, id, new Command { Statement = request });

    private async Task<Reply> RequestAsync(string replyTopic, ulong id, Command command)
    {
        command.CorrelationId = id;
        command.TransactionId = Guid.NewGuid().ToString();
        command.ProxyTopic = replyTopic;
        await ProduceAsync(
            Topics.Balances(PaymentType.Visa), CommandRoute.Of(command).AccountId, command.ToByteArray());
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(new ConsumerConfig
        {
            BootstrapServers = stack.Stack.BootstrapServers,
            GroupId = "test-" + Guid.NewGuid(),
            EnableAutoCommit = false,
        });
        consumer.Assign(new TopicPartitionOffset(replyTopic, 0, Offset.Beginning));
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        while (true)
        {
            var batch = ReplyBatch.Parser.ParseFrom(consumer.Consume(patience.Token).Message.Value);
            if (batch.Replies.SingleOrDefault(r => r.CorrelationId == id) is { } reply)
            {
                return reply;
            }
        }
    }

    private async Task ProduceAsync(string topic, string key, byte[] value, string version = "1")
    {
        using var producer = KafkaClients.Producer<string, byte[]>(new ProducerConfig
        {
            BootstrapServers = stack.Stack.BootstrapServers,
            Partitioner = Partitioner.Murmur2Random,
        });
        await producer.ProduceAsync(topic, new Message<string, byte[]>
        {
            Key = key,
            Value = value,
            Headers = new Headers { { WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version) } },
        });
    }

    private async Task<string> CreateReplyTopicAsync()
    {
        var topic = Topics.Replies("test-" + Guid.NewGuid().ToString("N"));
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = stack.Stack.BootstrapServers });
        await admin.CreateTopicsAsync(
            [new TopicSpecification { Name = topic, NumPartitions = 1, ReplicationFactor = 1 }]);
        return topic;
    }
}
