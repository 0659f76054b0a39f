using System.Globalization;
using System.Text;
using Billing.Contracts;
using Billing.IntegrationTests.Services;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Operator;

/// <summary>The command <c>dead-letters</c>, run as a separate process against real dead letters.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class DeadLetterCommands : IAsyncLifetime
{
    private static readonly string Visa = Topics.Payments(PaymentType.Visa);

    private readonly KafkaStack _stack;
    private readonly StackFolder _folder = StackFolder.Create();

    public DeadLetterCommands(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    private string Brokers => _stack.Stack.BootstrapServers!;

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    [Fact]
    public async Task An_invalid_record_is_listed_is_shown_with_its_bytes_and_is_a_dead_letter_again_after_a_replay()
    {
        var garbage = Encoding.UTF8.GetBytes("garbage " + Guid.NewGuid());
        var account = StackFixture.NewAccount();
        var origin = await ProduceAsync(Visa, Encoding.UTF8.GetBytes(account), garbage);
        var letter = await FindAsync(l => l.Value.AsSpan().SequenceEqual(garbage));
        var raw = Path.Combine(_folder.FullName, "raw");

        var list = await RunAsync("list", "--limit", "100");
        var show = await RunAsync("show", letter.Id.ToString(), "--raw", raw);
        var replay = await RunAsync("replay", letter.Id.ToString());
        var again = await FindAsync(l => l.Value.AsSpan().SequenceEqual(garbage) && l.Id != letter.Id);
        var listAgain = await RunAsync("list");

        var place = $"{Visa}[{origin.Partition.Value}]@{origin.Offset.Value}";
        Assert.All([list, show, replay], run => Assert.Equal(0, run.ExitCode));
        Assert.Contains(
            list.Output.Split('\n'),
            line => line.Contains(place, StringComparison.Ordinal) && line.Contains(account, StringComparison.Ordinal));
        Assert.Matches(@"\d+ of \d+ dead letters", list.Output);
        Assert.Contains("Reason     the value is not a Command", show.Output, StringComparison.Ordinal);
        Assert.Contains("Origin     " + place, show.Output, StringComparison.Ordinal);
        Assert.Contains("Header     billing-wire: 1", show.Output, StringComparison.Ordinal);
        Assert.Contains("00000000  67 61 72 62 61 67 65 20", show.Output, StringComparison.Ordinal);
        Assert.Equal(garbage, await File.ReadAllBytesAsync(raw));
        Assert.Contains($"{letter.Id} -> {Visa}[{origin.Partition.Value}]@", replay.Output, StringComparison.Ordinal);
        Assert.Contains("Replayed 1, refused 0", replay.Output, StringComparison.Ordinal);
        Assert.Equal(letter.Id.ToString(), again.ReplayedFrom);
        Assert.Contains(listAgain.Output.Split('\n'), line => line.Contains($"│ {again.Id} ", StringComparison.Ordinal)
            && line.Contains($"│ {letter.Id} ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_command_with_another_wire_version_is_shown_as_JSON_and_replayed_with_its_original_headers()
    {
        var request = StackFixture.Payment();
        await ProduceAsync(
            Visa, Encoding.UTF8.GetBytes(request.AccountId),
            Command(request).ToByteArray(), (WireFormat.VersionHeader, "2"));
        var letter = await FindAsync(Holds(request));

        var show = await RunAsync("show", letter.Id.ToString());
        var replay = await RunAsync("replay", letter.Id.ToString());
        var again = await FindAsync(l => Holds(request)(l) && l.Id != letter.Id);

        Assert.Contains($"\"transactionId\": \"{request.TransactionId}\"", show.Output, StringComparison.Ordinal);
        Assert.Equal(0, replay.ExitCode);
        Assert.Contains(WireFormat.VersionHeader, again.Reason, StringComparison.Ordinal);
        Assert.Equal(0, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_payment_in_the_dead_letters_is_recorded_once_however_often_it_is_replayed()
    {
        var request = StackFixture.Payment();
        var letter = await AddDeadLetterAsync(Visa, request, expired: true);

        var first = await RunAsync("replay", letter.Id.ToString());
        await WaitUntilProcessedAsync(request.AccountId);
        var second = await RunAsync("replay", letter.Id.ToString());
        await WaitUntilProcessedAsync(request.AccountId);

        Assert.Contains("its deadline cleared", first.Output, StringComparison.Ordinal);
        Assert.Equal(0, second.ExitCode);
        var paid = await _stack.Proxy().MakePaymentAsync(request);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
        Assert.Equal(1, paid.Version);
        // The payment, and one payment for each wait.
        Assert.Equal(3, await _stack.CountEventsAsync(request.AccountId));
    }

    [Fact]
    public async Task A_payment_replayed_with_as_is_keeps_its_deadline_and_is_not_charged()
    {
        var request = StackFixture.Payment();
        var letter = await AddDeadLetterAsync(Visa, request, expired: true);

        var replay = await RunAsync("replay", "--as-is", letter.Id.ToString());
        await WaitUntilProcessedAsync(request.AccountId);

        Assert.Equal(0, replay.ExitCode);
        Assert.DoesNotContain("deadline cleared", replay.Output, StringComparison.Ordinal);
        Assert.Equal(1, await _stack.CountEventsAsync(request.AccountId));
    }

    [Theory]
    [InlineData("billing.replies.somebody")]
    [InlineData("billing.dead-letters")]
    [InlineData("payroll")]
    public async Task A_dead_letter_from_a_topic_without_requests_is_not_replayed(string topic)
    {
        var letter = await AddDeadLetterAsync(topic, StackFixture.Payment());

        var replay = await RunAsync("replay", letter.Id.ToString());

        Assert.Equal(1, replay.ExitCode);
        Assert.Contains($"its original topic is '{topic}'", replay.Output, StringComparison.Ordinal);
        Assert.Contains("Replayed 0, refused 1", replay.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_binary_key_and_a_missing_key_or_value_are_preserved()
    {
        byte[] key = [0xff, 0x00, 0xfe];
        var mark = Guid.NewGuid().ToString();
        await ProduceAsync(Visa, key, null, ("mark", mark));
        var letter = await FindAsync(Marked(mark));
        await RunAsync("replay", letter.Id.ToString());
        var again = await FindAsync(l => Marked(mark)(l) && l.Id != letter.Id);
        await ProduceAsync(Visa, null, null, ("mark", mark + "-"));
        var keyless = await FindAsync(Marked(mark + "-"));

        Assert.All([letter, again], l => Assert.Equal(key, l.Key));
        Assert.All([letter, again], l => Assert.Null(l.Value));
        Assert.Null(keyless.Key);
    }

    [Theory]
    [InlineData(1_040_000, 0, 64 * 1024)]
    [InlineData(10, 1_040_000, 10)]
    public async Task A_record_near_the_brokers_size_limit_is_truncated_and_blocks_no_other(
        int valueBytes, int headerBytes, int keptBytes)
    {
        var mark = Guid.NewGuid().ToString();
        var account = StackFixture.NewAccount();
        await ProduceAsync(
            Visa, Encoding.UTF8.GetBytes(account), new byte[valueBytes],
            ("mark", mark), ("large", new string('x', headerBytes)));

        var letter = await FindAsync(Marked(mark));
        await WaitUntilProcessedAsync(account);
        var list = await RunAsync("list", "--limit", "1000");
        var replay = await RunAsync("replay", letter.Id.ToString());

        Assert.Equal(valueBytes, letter.TruncatedFrom);
        Assert.Equal(keptBytes, letter.Value!.Length);
        Assert.Equal(Visa, letter.Topic);
        Assert.NotEmpty(letter.Reason);
        Assert.Contains($"(cut to {keptBytes})", list.Output, StringComparison.Ordinal);
        Assert.Equal(1, replay.ExitCode);
        Assert.Contains(
            $"its value was truncated: the record had {valueBytes} bytes", replay.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("There is no dead letter 999999999.", "show", "999999999")]
    [InlineData("There is no dead letter 7:0.", "replay", "7:0")]
    [InlineData("'first' is not the id of a dead letter", "show", "first")]
    [InlineData("Give either dead-letter ids or --all.", "replay")]
    [InlineData("--limit must be between", "list", "--limit", "0")]
    public async Task Invalid_input_is_named_in_the_error(string named, params string[] arguments)
    {
        var (exitCode, output) = await RunAsync(arguments);

        Assert.Equal(1, exitCode);
        Assert.Contains(named, output, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Unreachable_brokers_are_named_in_the_error()
    {
        var (exitCode, output) = await RunWithoutBrokersAsync("list", "--kafka", "127.0.0.1:1");

        Assert.Equal(1, exitCode);
        Assert.Contains("No broker answers at '127.0.0.1:1'", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_brokers_and_without_a_stack_the_error_names_the_missing_option()
    {
        var (exitCode, output) = await RunWithoutBrokersAsync("list");

        Assert.Equal(1, exitCode);
        Assert.Contains("--kafka is missing, and no stack is running.", output, StringComparison.Ordinal);
    }

    private static Command Command(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        ProxyTopic = Topics.Replies("nobody"),
        Payment = request,
    };

    private static Predicate<DeadLetter> Holds(MakePaymentRequest request)
    {
        var bytes = Encoding.UTF8.GetBytes(request.TransactionId);
        return letter => letter.Value.AsSpan().IndexOf(bytes) >= 0;
    }

    private static Predicate<DeadLetter> Marked(string mark) =>
        letter => letter.Headers.Any(h => h.Key == "mark" && Encoding.UTF8.GetString(h.Value!) == mark);

    /// <summary>Produces a payment to the dead letters, in the form in which a backend writes a command that
    /// it cannot process.</summary>
    private async Task<DeadLetter> AddDeadLetterAsync(string topic, MakePaymentRequest request, bool expired = false)
    {
        var command = Command(request);
        command.DeadlineUnixUs = expired ? TimeProvider.System.Microseconds() - 1 : 0;
        await ProduceAsync(
            Topics.DeadLetters, Encoding.UTF8.GetBytes(request.AccountId), command.ToByteArray(),
            (WireFormat.VersionHeader, "1"), (DeadLetterPublisher.ReasonHeader, "the test said so"),
            (DeadLetterPublisher.TopicHeader, topic), (DeadLetterPublisher.PartitionHeader, "0"),
            (DeadLetterPublisher.OffsetHeader, "0"));
        return await FindAsync(Holds(request));
    }

    /// <summary>Makes a payment on the same account, and so on the same partition:
    /// it is answered after all earlier records.</summary>
    private async Task WaitUntilProcessedAsync(string account) =>
        await _stack.Proxy().MakePaymentAsync(StackFixture.Payment(account));

    private async Task<DeliveryResult<byte[], byte[]>> ProduceAsync(
        string topic, byte[]? key, byte[]? value, params (string Name, string Value)[] headers)
    {
        using var producer = KafkaClients.Producer<byte[], byte[]>(new ProducerConfig
        {
            BootstrapServers = Brokers,
            Partitioner = Partitioner.Murmur2Random,
            MessageMaxBytes = 2_000_000,
        });
        var message = new Message<byte[], byte[]> { Key = key!, Value = value!, Headers = [] };
        foreach (var (name, text) in headers.Length == 0 ? [(WireFormat.VersionHeader, "1")] : headers)
        {
            message.Headers.Add(name, Encoding.UTF8.GetBytes(text));
        }
        return await producer.ProduceAsync(topic, message);
    }

    private async Task<DeadLetter> FindAsync(Predicate<DeadLetter> matches)
    {
        return (await Poll.UntilAsync(
            () =>
            {
                using var archive = new DeadLetterArchive(new KafkaOptions { BootstrapServers = Brokers });
                return Task.FromResult(archive.Read().FirstOrDefault(letter => matches(letter)));
            },
            letter => letter is not null))!;
    }

    private Task<(int ExitCode, string Output)> RunAsync(params string[] arguments) =>
        RunAsync(Patience, [.. arguments, "--kafka", Brokers]);

    private Task<(int ExitCode, string Output)> RunWithoutBrokersAsync(params string[] arguments) =>
        RunAsync(TimeSpan.FromSeconds(1), arguments);

    private Task<(int ExitCode, string Output)> RunAsync(TimeSpan startTimeout, string[] arguments) =>
        CommandRun.ToEndAsync(
            _folder, ["dead-letters", .. arguments], new Dictionary<string, string?>
            {
                ["Billing__Kafka__StartTimeout"] = startTimeout.ToString("c", CultureInfo.InvariantCulture),
                ["BILLING_STATE"] = _folder.FullName,
            }, CommandRun.Operator);
}
