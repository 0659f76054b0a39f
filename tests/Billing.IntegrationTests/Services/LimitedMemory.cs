using System.Globalization;
using Billing.Backends.Domain;
using Billing.Backends.Hosting;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Misuse.Watching;
using Billing.Operator.Store;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Confluent.Kafka.Admin;
using Google.Protobuf;
using Npgsql;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Services;

/// <summary>A stack whose services have the memory that the units of deploy/bootstrap give them.</summary>
public sealed class SmallStack() : KafkaFixture(new StackOptions
{
    Proxies = 1,
    PaymentBackends = 1,
    BalanceBackends = 1,
    Settings = UnitLimits.Of(ServiceRole.PaymentBackend).Environment,
});

/// <summary>Backends in little memory, and callers that would fill more.</summary>
public sealed class LimitedMemory : IClassFixture<SmallStack>
{
    private const string MinInSync = "min.insync.replicas";

    private readonly SmallStack _stack;

    public LimitedMemory(SmallStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_log_says_what_a_backend_may_hold()
    {
        await SaysAsync(Of(ServiceRole.BalanceBackend), "MiB of memory, the view holds at most ");
        await SaysAsync(Of(ServiceRole.PaymentBackend), "Of 288 MiB of memory, at most ");
    }

    [Fact]
    public async Task A_payment_backend_outlives_a_backlog_of_the_largest_commands_and_records_all_of_them()
    {
        const int Commands = 30_000;
        var (backend, account, database) =
            (Of(ServiceRole.PaymentBackend), StackFixture.NewAccount(), _stack.Stack.Postgres!);
        database.Kill();
        await database.Process!.WaitForExitAsync(Stop);

        Produce(
            Topics.Payments(PaymentType.Visa), await CreateReplyTopicAsync(),
            Enumerable.Range(0, Commands).Select(n => LargestPayment($"{account}-{n}")));
        await SaysAsync(backend, "Paused consuming");
        await database.StartAsync();

        Assert.Equal(Commands, await Poll.LastAsync(
            () => CountAsync(account), stored => stored == Commands || backend.HasExited, Patience));
        Assert.False(backend.HasExited);
    }

    [Fact]
    public async Task A_balance_backend_with_more_accounts_than_its_memory_holds_is_ready_and_answers_for_all_of_them()
    {
        const int Accounts = 250_000;
        var prefix = StackFixture.NewAccount();
        await _stack.Proxy().MakePaymentAsync(StackFixture.Payment(prefix, amount: 7));
        await CopyAsync(prefix, Accounts);
        await _stack.Stack.RemoveAsync(_stack.Stack.Of(ServiceRole.BalanceBackend).Single());

        var small = await _stack.Stack.AddAsync(
            ServiceRole.BalanceBackend, 1, Stop,
            new Dictionary<string, string>
            {
                ["DOTNET_GCHeapHardLimit"] = "0x4800000",
                ["DOTNET_GCgen0size"] = "0x800000",
            });
        await SaysAsync(small.Process, "full: True");

        foreach (var n in new[] { 1, Accounts / 2, Accounts })
        {
            var balance = await _stack.Client().CheckBalanceAsync(
                new CheckBalanceRequest { AccountId = $"{prefix}-{n}", PaymentType = PaymentType.Visa });
            Assert.Equal(7, balance.Balance.Units);
        }
        Assert.False(small.Process.HasExited);
    }

    [Fact]
    public async Task A_balance_backend_outlives_thousands_of_the_largest_pages_that_nobody_can_be_sent()
    {
        const int Requests = 1_000;
        var account = StackFixture.NewAccount();
        await AppendLargestAsync(account, 1000);
        var backend = Of(ServiceRole.BalanceBackend);
        var stuck = await CreateReplyTopicAsync(mayBeWritten: false);

        Produce(
            Topics.Balances(PaymentType.Visa), stuck,
            Enumerable.Range(0, Requests).Select(_ => (account, LargestPage(account))));
        // Others are answered meanwhile, also from the event store.
        var statement = await _stack.Proxy().ListStatementAsync(
            new ListStatementRequest { AccountId = account, PaymentType = PaymentType.Visa, PageSize = 10 });
        await SetAsync(stuck, MinInSync, "1");
        var answered = await CountRepliesAsync(stuck, atLeast: Requests / 2);

        Assert.Equal(10, statement.Entries.Count);
        Assert.InRange(answered, Requests / 2, Requests);
        Assert.False(backend.HasExited);
    }

    private ChildProcess Of(ServiceRole role) => _stack.Stack.Of(role).Single().Process;

    private static Task SaysAsync(ChildProcess process, string text) => process.WaitForOutputAsync(
        line => line.Contains(text, StringComparison.Ordinal), Patience, Stop);

    private static (string Account, Command Command) LargestPayment(string account)
    {
        var payment = StackFixture.Payment(account);
        payment.Notes = LargestNotes();
        return (account, new Command
        {
            TransactionId = payment.TransactionId,
            Principal = LargestPrincipal(),
            Payment = payment,
        });
    }

    private static Command LargestPage(string account) => new()
    {
        TransactionId = Guid.NewGuid().ToString(),
        Statement = new StatementPageRequest
        {
            AccountId = account,
            PaymentType = PaymentType.Visa,
            // With more entries, a record would be larger than the brokers allow.
            Limit = 150,
            WithPrincipals = true,
        },
    };

    // Of the characters that take most bytes.
    private static PaymentNotes LargestNotes()
    {
        var text = string.Concat(Enumerable.Repeat("\U0001F4B3", FieldRules.NoteLengthMax));
        var notes = new PaymentNotes { Reference = text };
        for (var pair = 0; pair < FieldRules.MetadataPairsMax; pair++)
        {
            notes.Metadata[pair.ToString($"D{FieldRules.MetadataNameLengthMax}", CultureInfo.InvariantCulture)] = text;
        }
        return notes;
    }

    private static V1.Principal LargestPrincipal()
    {
        var name = new string('\u20AC', WireFormat.NameMax);
        return new V1.Principal { Subject = name, ClientId = name };
    }

    private async Task AppendLargestAsync(string account, int count)
    {
        await using var services = StoreServices.Of(
            new SortedDictionary<string, string>(StringComparer.Ordinal) { ["billing"] = _stack.ConnectionString });
        await services.EnsureEventStoreAsync(Stop);
        var (notes, by) = (Notes.Of(LargestNotes()), LargestPrincipal());
        await EventStoreFixture.AppendAsync(
            services.DatabaseOf("visa/" + account), "visa/" + account, EventStoreFixture.Opened,
            Enumerable.Range(0, count).Select(_ => new Billing.Backends.Domain.PaymentAccepted(
                Guid.NewGuid(), 1, "USD", TimeProvider.System.GetUtcNow())
            {
                Balance = 0,
                Notes = notes,
                By = new Sender(by.Subject, by.ClientId),
            }));
    }

    // Makes accounts like one that has a single event.
    private async Task CopyAsync(string account, int count)
    {
        await using var source = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var copy = source.CreateCommand(
            """
            with streams as (
                insert into billing.mt_streams
                select (jsonb_populate_record(s, jsonb_build_object('id', s.id || '-' || n))).*
                from billing.mt_streams s, generate_series(1, $2) n where s.id = $1 returning id)
            insert into billing.mt_events
            select (jsonb_populate_record(e, jsonb_build_object(
                'id', gen_random_uuid(), 'seq_id', nextval('billing.mt_events_sequence'), 'stream_id', s.id))).*
            from billing.mt_events e, streams s where e.stream_id = $1
            """);
        copy.CommandTimeout = 0;
        copy.Parameters.AddWithValue("visa/" + account);
        copy.Parameters.AddWithValue(count);
        await copy.ExecuteNonQueryAsync(Stop);
    }

    private async Task<long> CountAsync(string account)
    {
        await using var source = NpgsqlDataSource.Create(_stack.ConnectionString);
        await using var count = source.CreateCommand(
            "select count(*) from billing.mt_events where stream_id like $1");
        count.Parameters.AddWithValue($"visa/{account}-%");
        return (long)(await count.ExecuteScalarAsync(Stop))!;
    }

    private void Produce(
        string topic, string replies, IEnumerable<(string Account, Command Command)> commands)
    {
        using var producer = KafkaClients.Producer<string, byte[]>(new ProducerConfig
        {
            BootstrapServers = _stack.Stack.BootstrapServers,
            Partitioner = Partitioner.Murmur2Random,
        });
        var now = TimeProvider.System.Microseconds();
        foreach (var (account, command) in commands)
        {
            command.ProxyTopic = replies;
            command.ReceivedUnixUs = now;
            command.DeadlineUnixUs = now + (long)TimeSpan.FromHours(1).TotalMicroseconds;
            producer.Produce(topic, new Message<string, byte[]>
            {
                Key = account,
                Value = command.ToByteArray(),
                Headers = new Headers { { WireFormat.VersionHeader, "1"u8.ToArray() } },
            });
        }
        producer.Flush(Stop);
    }

    private async Task<string> CreateReplyTopicAsync(bool mayBeWritten = true)
    {
        var topic = Topics.Replies("test-" + Guid.NewGuid().ToString("N"));
        using var admin = Admin();
        await admin.CreateTopicsAsync(
        [
            new TopicSpecification
            {
                Name = topic,
                NumPartitions = 1,
                ReplicationFactor = 1,
                Configs = new() { [MinInSync] = mayBeWritten ? "1" : "2" },
            },
        ]);
        return topic;
    }

    private async Task SetAsync(string topic, string setting, string value)
    {
        using var admin = Admin();
        await admin.IncrementalAlterConfigsAsync(new()
        {
            [new ConfigResource { Type = ResourceType.Topic, Name = topic }] =
                [
                    new ConfigEntry
                    {
                        Name = setting,
                        Value = value,
                        IncrementalOperation = AlterConfigOpType.Set,
                    },
                ],
        });
    }

    private async Task<int> CountRepliesAsync(string topic, int atLeast)
    {
        using var consumer = KafkaClients.Consumer<byte[], byte[]>(new ConsumerConfig
        {
            BootstrapServers = _stack.Stack.BootstrapServers,
            GroupId = "test-" + Guid.NewGuid(),
            EnableAutoCommit = false,
        });
        consumer.Assign(new TopicPartitionOffset(topic, 0, Offset.Beginning));
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        var count = 0;
        await Task.Run(
            () =>
            {
                while (count < atLeast)
                {
                    count += ReplyBatch.Parser.ParseFrom(consumer.Consume(patience.Token).Message.Value).Replies
                        .Count(reply => reply.Statement is { Entries.Count: > 0 });
                }
            },
            Stop);
        return count;
    }

    private IAdminClient Admin() =>
        KafkaClients.Admin(new AdminClientConfig { BootstrapServers = _stack.Stack.BootstrapServers });
}
