using System.Text;
using Billing.Contracts;
using Billing.Messaging;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.Cli.Chaos;

/// <summary>Records that no proxy would send, one of each sort on each request topic: garbage, and commands without a fault
/// that belong elsewhere. All belong in the dead letters; none may stop a backend or reach an account.</summary>
internal static class BadRecords
{
    private const string Account = "chaos";

    // As near to the brokers' limit for a record (1,048,588 bytes with all overhead) as a producer gets.
    private const int OversizedBytes = 1_048_400;

    /// <summary>Sends them and waits until the brokers have them.</summary>
    /// <returns>How many they were.</returns>
    public static async Task<int> SendAsync(string bootstrapServers, CancellationToken cancellationToken)
    {
        using var producer = new ProducerBuilder<string, byte[]>(new ProducerConfig
        {
            BootstrapServers = bootstrapServers,
            ClientId = "billing-chaos",
            Partitioner = Partitioner.Murmur2Random,
            MessageMaxBytes = 2_000_000,
        }).SetErrorHandler((_, _) => { }).SetLogHandler((_, _) => { }).Build();
        var sent = 0;
        foreach (var topic in Topics.AllRequests)
        {
            foreach (var record in Values(topic).Select(v => Record(v.Version, v.Value)).Concat(Misplaced(topic)))
            {
                await producer.ProduceAsync(topic, record, cancellationToken);
                sent++;
            }
        }
        return sent;
    }

    /// <summary>Commands that keep every rule, and do not belong on a topic, or not under their key.</summary>
    public static IEnumerable<Message<string, byte[]>> Misplaced(string topic)
    {
        var commands = Topics.PaymentTypes.SelectMany(Commands).ToList();
        var here = commands.First(command => CommandRoute.Of(command).Topic == topic).ToByteArray();
        return commands.Where(command => CommandRoute.Of(command).Topic != topic)
            .Select(command => Record("1", command.ToByteArray()))
            .Append(Record("1", here, "another-account"))
            .Append(Record("1", here, key: null));
    }

    /// <summary>A record of a wire version and a value; both may be missing.</summary>
    public static Message<string, byte[]> Record(string? version, byte[]? value, string? key = Account)
    {
        var headers = new Headers();
        if (version is not null)
        {
            headers.Add(WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version));
        }
        return new Message<string, byte[]> { Key = key!, Value = value!, Headers = headers };
    }

    /// <summary>A payment that is sound but for what the caller changes.</summary>
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

    /// <summary>One command of each kind, for an account of a payment type.</summary>
    private static IEnumerable<Command> Commands(PaymentType type)
    {
        yield return Command(Topics.Replies("nobody"), type);
        yield return Other(command => command.CreditLimit = new SetCreditLimitRequest
        {
            TransactionId = command.TransactionId,
            AccountId = Account,
            PaymentType = type,
            Limit = 1m.ToMoney("USD"),
        });
        yield return Other(command => command.Balance = new CheckBalanceRequest { AccountId = Account, PaymentType = type });
        yield return Other(command => command.Statement = new StatementPageRequest { AccountId = Account, PaymentType = type, Limit = 1 });
    }

    private static Command Other(Action<Command> request)
    {
        var command = Command(Topics.Replies("nobody"));
        request(command);
        return command;
    }

    /// <summary>A value as large as the brokers take.</summary>
    public static byte[] Oversized()
    {
        var value = new byte[OversizedBytes];
        Array.Fill(value, (byte)'x');
        return value;
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
