using System.Text;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.Chaos.Faults;

/// <summary>Records that no service of the platform would send, one of each kind on each topic. On the request topics
/// these are garbage, invalid commands, valid commands of other topics, and records of other kinds: all of them must be
/// sent to the dead letters. On the other topics these are <see cref="StrayRecords"/>. None may stop a service or
/// affect an account.</summary>
public static class BadRecords
{
    private const string Account = "chaos";

    private static readonly TimeSpan QueryTimeout = TimeSpan.FromSeconds(15);

    // About the largest value below the brokers' limit for a record (1,048,588 bytes with all overhead).
    private const int OversizedBytes = 1_048_400;

    /// <summary>Sends the records and waits until the brokers have acknowledged them.</summary>
    /// <returns>The places of those that must be sent to the dead letters.</returns>
    public static async Task<IReadOnlyList<TopicPartitionOffset>> SendAsync(
        string bootstrapServers, CancellationToken cancellationToken)
    {
        using var producer = KafkaClients.Producer<string, byte[]>(new ProducerConfig
        {
            BootstrapServers = bootstrapServers,
            ClientId = "billing-chaos",
            Partitioner = Partitioner.Murmur2Random,
            MessageMaxBytes = 2_000_000,
        });
        var sent = new List<TopicPartitionOffset>();
        foreach (var topic in Topics.AllRequests)
        {
            sent.AddRange(await SendAsync(
                topic,
                [
                    .. Values(topic).Select(v => Record(v.Version, v.Value)), .. Misplaced(topic), .. Spoiled(topic),
                    .. StrayRecords.ForRequests(),
                ]));
        }
        await SendAsync(Topics.Events, [.. StrayRecords.ForEvents()]);
        await SendAsync(Topics.DeadLetters, [.. StrayRecords.ForDeadLetters()]);
        foreach (var topic in ReplyTopics(bootstrapServers))
        {
            try
            {
                await SendAsync(topic, [.. StrayRecords.ForReplies()]);
            }
            catch (KafkaException e) when (e.Error.Code is ErrorCode.UnknownTopicOrPart or ErrorCode.Local_UnknownTopic)
            {
                // Its proxy has stopped meanwhile, and has deleted it.
            }
        }
        return sent;

        async Task<IEnumerable<TopicPartitionOffset>> SendAsync(string topic, List<Message<string, byte[]>> records)
        {
            var stored = await Task.WhenAll(
                records.Select(record => producer.ProduceAsync(topic, record, cancellationToken)));
            return stored.Select(record => record.TopicPartitionOffset);
        }
    }

    /// <summary>Returns commands of a topic in which a field is missing, invalid or out of range.</summary>
    public static IEnumerable<Message<string, byte[]>> Spoiled(string topic)
    {
        var valid = PaymentTypes.All.SelectMany(Commands)
            .Where(command => Topics.Of(CommandRoute.Of(command)) == topic).ToList();
        Action<Command>[] spoils =
        [
            command => command.TransactionId = "",
            command => command.TransactionId = "no id",
            command => command.ClearRequest(),
            command => command.ProxyTopic = "",
            command => command.Timing = new Timing { SentUnixUs = long.MinValue },
            command => (command.Payment ?? new()).AccountId = "",
            command => (command.Payment ?? new()).AccountId = new string('x', 70_000),
            command => (command.Payment ?? new()).Amount = null,
            command => (command.Payment ?? new()).TransactionId = Guid.NewGuid().ToString(),
            command => (command.CreditLimit ?? new()).Limit = new Money { CurrencyCode = "dollars", Units = 1 },
            command => (command.CreditLimit ?? new()).Limit = new Money { CurrencyCode = "USD", Units = -1, Nanos = 1 },
            command => (command.AccountStatus ?? new()).AccountStatus = (AccountStatus)4,
            command => (command.Balance ?? new()).MinVersion = -1,
            command => (command.Statement ?? new()).Limit = int.MaxValue,
            command => (command.Statement ?? new()).AfterVersion = long.MinValue,
        ];
        foreach (var command in valid)
        {
            foreach (var spoil in spoils)
            {
                var spoiled = command.Clone();
                spoil(spoiled);
                // The change has no effect on a command without the field.
                if (!spoiled.Equals(command))
                {
                    yield return Record("1", spoiled.ToByteArray());
                }
            }
        }
    }

    /// <summary>Returns valid commands that belong on another topic, or have a wrong key.</summary>
    public static IEnumerable<Message<string, byte[]>> Misplaced(string topic)
    {
        var commands = PaymentTypes.All.SelectMany(Commands).ToList();
        var here = commands.First(command => Topics.Of(CommandRoute.Of(command)) == topic).ToByteArray();
        return commands.Where(command => Topics.Of(CommandRoute.Of(command)) != topic)
            .Select(command => Record("1", command.ToByteArray()))
            .Append(Record("1", here, "another-account"))
            .Append(Record("1", here, key: null));
    }

    /// <summary>Returns a record with a wire version and a value; both may be absent.</summary>
    public static Message<string, byte[]> Record(string? version, byte[]? value, string? key = Account)
    {
        var headers = new Headers();
        if (version is not null)
        {
            headers.Add(WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version));
        }
        return new Message<string, byte[]> { Key = key!, Value = value!, Headers = headers };
    }

    /// <summary>Returns a valid payment, which the caller may change.</summary>
    public static Command Command(string proxyTopic, PaymentType type = PaymentType.Visa)
    {
        var command = new Command { TransactionId = Guid.NewGuid().ToString(), ProxyTopic = proxyTopic };
        command.Payment = new MakePaymentRequest
        {
            TransactionId = command.TransactionId,
            AccountId = Account,
            PaymentType = type,
            Amount = 1m.ToMoney("USD"),
        };
        return command;
    }

    /// <summary>Returns one command of each kind that is answered, for an account of a payment type.</summary>
    public static IEnumerable<Command> Commands(PaymentType type)
    {
        var valid = new ValidMessages(new Random(1), Account, type);
        foreach (var kind in RequestKinds.All.Where(kind => kind.IsAnswered))
        {
            var command = valid.Command(kind);
            command.ProxyTopic = Topics.Replies("nobody");
            yield return command;
        }
    }

    /// <summary>Returns a value of the largest size that the brokers accept.</summary>
    public static byte[] Oversized()
    {
        var value = new byte[OversizedBytes];
        Array.Fill(value, (byte)'x');
        return value;
    }

    private static List<string> ReplyTopics(string bootstrapServers)
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig { BootstrapServers = bootstrapServers });
        return [.. admin.GetMetadata(QueryTimeout).Topics.Select(t => t.Topic).Where(Topics.IsReplyTopic)];
    }

    private static IEnumerable<(string? Version, byte[]? Value)> Values(string topic)
    {
        yield return ("1", "this is not a command"u8.ToArray());
        yield return ("1", []);
        yield return ("1", null);
        yield return (null, Command(Topics.Replies("nobody")).ToByteArray());
        yield return ("2", Command(Topics.Replies("nobody")).ToByteArray());
        yield return ("1", Command(topic).ToByteArray());
        yield return ("1", Oversized());
    }
}
