using System.Text;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.Cli.Chaos;

/// <summary>Records that no proxy would send, one of each sort on each payment topic. All belong in the dead letters; none
/// may stop a backend, reach an account, or be answered where it asks for it.</summary>
internal static class BadRecords
{
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
        foreach (var topic in Topics.AllPayments)
        {
            foreach (var (version, value) in Values(topic))
            {
                await producer.ProduceAsync(topic, Record(version, value), cancellationToken);
                sent++;
            }
        }
        return sent;
    }

    /// <summary>A record of a wire version and a value; both may be missing.</summary>
    public static Message<string, byte[]> Record(string? version, byte[]? value, string key = "chaos")
    {
        var headers = new Headers();
        if (version is not null)
        {
            headers.Add(WireFormat.VersionHeader, Encoding.ASCII.GetBytes(version));
        }
        return new Message<string, byte[]> { Key = key, Value = value!, Headers = headers };
    }

    /// <summary>A command that is sound but for what the caller changes.</summary>
    public static Command Command(string proxyTopic)
    {
        var id = Guid.NewGuid().ToString();
        return new Command
        {
            TransactionId = id,
            ProxyTopic = proxyTopic,
            Payment = new MakePaymentRequest
            {
                TransactionId = id,
                AccountId = "chaos",
                PaymentType = PaymentType.Visa,
                Amount = 1m.ToMoney("USD"),
            },
        };
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
