using System.Globalization;
using System.Text;
using Billing.Backends;
using Billing.Backends.Balances;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Requests;
using Billing.Simulation.Kafka;
using Billing.UnitTests.Backends.Balances;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.UnitTests.Allocations;

/// <summary>What the things take that a backend reckons with (<see cref="BackendMemory"/>), each as large as a caller
/// can make it. No other test runs meanwhile.</summary>
[Collection(AloneInTheProcess.Name)]
public sealed class MemoryOfBackendsTests : IDisposable
{
    // Of what is reckoned with, in percent: if less is measured, the limits can be closer.
    private const int UsedMin = 80;
    private const int Accounts = 50_000;
    private const int Commands = 2_000;

    private readonly ManualTime _time = new();
    private readonly HoldingProducer _producer = new();
    private readonly KafkaAnswerPublisher _publisher;
    private readonly Replier _replier;
    private readonly SimulatedCardNetwork _network;

    public MemoryOfBackendsTests()
    {
        _publisher = new KafkaAnswerPublisher(_producer, _producer, _time, NullLogger.Instance);
        _replier = new Replier(_publisher, Supervision.New(), NullLogger<Replier>.Instance);
        _network = new SimulatedCardNetwork(Options.Create(new JitterOptions { Enabled = false }), _time);
    }

    public void Dispose()
    {
        _network.Dispose();
        _publisher.Dispose();
        _producer.Dispose();
    }

    [Fact]
    public void An_account_in_the_view()
    {
        var view = new BalanceView(Limits.Opened(1000), 2 * Accounts, _time);
        view.Complete();

        var bytes = BytesEach(Accounts, n => view.Apply(History.Of(StreamOf(n), 10)));

        Assert.Equal(Accounts, view.Count);
        AssertReckoned(bytes, BackendMemory.ViewedAccountBytes);
    }

    [Fact]
    public void An_account_in_the_cache()
    {
        var cache = new AccountCache(Accounts);
        var assignment = new PartitionAssignment(new SourcePartition("billing.payments.visa", 0));

        // Each generation is as full as can be.
        var bytes = BytesEach(Accounts, n => cache.Set(
            StreamOf(n),
            new Account(1, 10, 1000, new string("USD".AsSpan())) { Head = new string('h', 44) }, assignment));

        Assert.Equal(Accounts, cache.Count);
        AssertReckoned(bytes, BackendMemory.CachedAccountBytes);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_command_that_changes_an_account_while_the_database_is_away_and_when_its_event_is_not_sent_yet(
        bool isLargest)
    {
        var back = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var processor = new PaymentProcessor(
            new ShardMap([new EmptyStore { Searching = back.Task }], _time), _network, _replier,
            new EventStoreRetry(_time), Options.Create(new BackendOptions { CachedAccountsMax = 2 }),
            Supervision.New(), _time, NullLoggerFactory.Instance);
        await processor.StartAsync(CancellationToken.None);
        var wire = Payment(0, isLargest).ToByteArray().Length;
        var before = GC.GetTotalMemory(forceFullCollection: true);

        processor.Accept(Delivered(n => Payment(n, isLargest)));
        var away = Since(before);
        back.SetResult();
        await Poll.UntilAsync(() => _producer.HasReplies(Commands));
        var unsent = Since(before);

        var reckoned = BackendMemory.WriteBytes + (BackendMemory.WriteCopies * wire);
        Assert.InRange(away, 1, reckoned);
        AssertReckoned(unsent, reckoned);
        await processor.StopAsync(CancellationToken.None);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_command_that_reads_an_account(bool isLargest)
    {
        using var network = new SimulatedCardNetwork(Options.Create(new JitterOptions { Enabled = true }), _time);
        var processor = new BalanceProcessor(
            new BalanceView(Limits.Opened(1000), 10, _time), new ShardMap([new EmptyStore()], _time), network,
            _replier, new EventStoreRetry(_time), Options.Create(new BackendOptions()), Supervision.New(), _time,
            NullLogger<BalanceProcessor>.Instance);
        var wire = Check(0, isLargest).ToByteArray().Length;
        var before = GC.GetTotalMemory(forceFullCollection: true);

        Delivered(n => Check(n, isLargest)).ForEach(processor.Accept);

        AssertReckoned(Since(before), BackendMemory.ReadBytes + (BackendMemory.ReadCopies * wire));
        GC.KeepAlive(processor);
    }

    [Fact]
    public void A_page_of_a_statement_with_the_bytes_that_send_it()
    {
        const int Pages = 50;
        var sent = new List<(Reply, byte[])>(Pages);

        var bytes = BytesEach(Pages, _ =>
        {
            var page = new StatementPage();
            for (var size = 0; size < RequestKinds.StatementBytesMax;)
            {
                var entry = StatementReader.Entry(
                    new Billing.Backends.Domain.PaymentAccepted(
                        Guid.NewGuid(), 10, "USD", _time.GetUtcNow())
                    { Balance = 10 }, 1, withPrincipal: true);
                size += entry.CalculateSize();
                page.Entries.Add(entry);
            }
            var reply = new Reply { Statement = page };
            sent.Add((reply, new ReplyBatch { Replies = { reply } }.ToByteArray()));
        });

        Assert.Equal(Pages, sent.Count);
        AssertReckoned(bytes, BackendMemory.StoredAnswerBytes);
    }

    private static void AssertReckoned(double bytes, int reckoned) =>
        Assert.InRange(bytes, reckoned * UsedMin / 100, reckoned);

    private static double BytesEach(int count, Action<int> add)
    {
        var before = GC.GetTotalMemory(forceFullCollection: true);
        for (var n = 0; n < count; n++)
        {
            add(n);
        }
        return (GC.GetTotalMemory(forceFullCollection: true) - before) / (double)count;
    }

    private static double Since(long before) =>
        (GC.GetTotalMemory(forceFullCollection: true) - before) / (double)Commands;

    // As the consumer reads them.
    private List<Delivery> Delivered(Func<int, Command> commandOf)
    {
        var (reader, watermark) = (new CommandReader(_publisher, _time), new OffsetWatermark());
        var assignment = new PartitionAssignment(new SourcePartition("billing.payments.visa", 0));
        return [.. Enumerable.Range(0, Commands).Select(n =>
        {
            var command = commandOf(n);
            var record = new ConsumeResult<byte[], byte[]>
            {
                TopicPartitionOffset = new TopicPartitionOffset(
                    Topics.Of(CommandRoute.Of(command)), 0, n),
                Message = new Message<byte[], byte[]>
                {
                    Key = Encoding.UTF8.GetBytes(AccountOf(n)),
                    Value = command.ToByteArray(),
                    Headers = new Headers { new Header(WireFormat.VersionHeader, "1"u8.ToArray()) },
                },
            };
            return reader.Read(record, watermark.Track(n), assignment)!;
        })];
    }

    private static string AccountOf(int n) =>
        n.ToString($"D{FieldRules.AccountIdLengthMax}", CultureInfo.InvariantCulture);

    private static string StreamOf(int n) => "mastercard/" + AccountOf(n);

    private static Command Payment(int n, bool isLargest)
    {
        var command = Samples.PaymentCommand(AccountOf(n), correlationId: (ulong)n);
        command.TransactionId = command.Payment.TransactionId = Guid.NewGuid().ToString();
        if (isLargest)
        {
            command.Principal = Principal();
            command.Payment.Notes = Samples.LargestNotes();
        }
        return command;
    }

    private static Command Check(int n, bool isLargest)
    {
        var command = Samples.BalanceCommand(AccountOf(n));
        command.TransactionId = Guid.NewGuid().ToString();
        command.Principal = isLargest ? Principal() : null;
        return command;
    }

    private static V1.Principal Principal() =>
        new() { Subject = new string('s', WireFormat.NameMax), ClientId = new string('c', WireFormat.NameMax) };

    /// <summary>Keeps what it gets, as events are kept for which a producer has no room yet.</summary>
    private sealed class HoldingProducer : PlainProducer
    {
        private readonly Lock _gate = new();
        private readonly List<object> _held = [];
        private int _replies;

        public override string Name => "holding";

        public override void Produce(
            TopicPartition topicPartition, Message<string, byte[]> message,
            Action<DeliveryReport<string, byte[]>>? deliveryHandler = null)
        {
            lock (_gate)
            {
                _held.Add((message, deliveryHandler));
                if (Topics.IsReplyTopic(topicPartition.Topic))
                {
                    _replies += ReplyBatch.Parser.ParseFrom(message.Value).Replies.Count;
                }
            }
        }

        public bool HasReplies(int count)
        {
            lock (_gate)
            {
                return _replies == count;
            }
        }
    }
}

/// <summary>Tests that measure the memory of the whole process.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class AloneInTheProcess
{
    public const string Name = "alone in the process";
}
