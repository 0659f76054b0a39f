using BenchmarkDotNet.Attributes;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.Benchmarks;

/// <summary>Serialises and parses the envelopes of Kafka records.</summary>
public class EnvelopeCodec
{
    private const int RepliesInBatch = 100;

    private readonly Command _command = Payments.Command();
    private readonly byte[] _commandBytes = Payments.Command().ToByteArray();
    private readonly ReplyBatch _batch = new();
    private byte[] _batchBytes = [];

    [GlobalSetup]
    public void Setup()
    {
        for (ulong id = 1; id <= RepliesInBatch; id++)
        {
            _batch.Replies.Add(new Reply
            {
                CorrelationId = id,
                Payment = new MakePaymentResponse
                {
                    TransactionId = Guid.NewGuid().ToString(),
                    Outcome = PaymentOutcome.Accepted,
                    Balance = new Money { CurrencyCode = "USD", Units = 100 },
                    Version = 7,
                },
            });
        }
        _batchBytes = _batch.ToByteArray();
    }

    /// <summary>Serialises a command, as a proxy does.</summary>
    [Benchmark]
    public byte[] WriteCommand() => _command.ToByteArray();

    /// <summary>Parses and checks a command, as a backend does.</summary>
    [Benchmark]
    public bool ReadCommand() => WireFormat.TryReadCommand(_commandBytes, WireFormat.VersionBytes.Span, out _, out _);

    /// <summary>Serialises the replies of a batch to one proxy, as a backend does.</summary>
    [Benchmark]
    public byte[] WriteHundredReplies() => _batch.ToByteArray();

    /// <summary>Parses the replies, as the proxy does.</summary>
    [Benchmark]
    public ReplyBatch ReadHundredReplies() => ReplyBatch.Parser.ParseFrom(_batchBytes);
}
