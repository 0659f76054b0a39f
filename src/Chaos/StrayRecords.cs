using System.Text;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Grpc.Core;
using Letters = Billing.Messaging.Kafka.DeadLetters;

namespace Billing.Chaos;

/// <summary>Records of every kind that the platform knows, sound and not, for topics where they do not belong: on the topic of
/// events what is no event, or none that fits its account; on a proxy's reply topic what is no reply, or answers no call; in
/// the dead letters what was never put aside. None may stop a service, change a balance or answer a call.</summary>
public static class StrayRecords
{
    /// <summary>What to send to the topic of events.</summary>
    public static IEnumerable<Message<string, byte[]>> ForEvents() =>
    [
        .. Garbage(), .. Commands(), .. Replies(), DeadLetter(),
        Sound(Event(fact => fact.StreamId = "")),
        Sound(Event(fact => fact.Version = 0)),
        Sound(Event(fact => fact.Version = -1)),
        // Far ahead of the account, of a fact or balance that is missing, and of a balance that does not follow.
        Sound(Event(fact => fact.Version = long.MaxValue)),
        Sound(Event(fact => fact.PaymentAccepted = null)),
        Sound(Event(fact => fact.PaymentAccepted.Amount = null)),
        Sound(Event(fact => fact.Balance = null)),
        Sound(Event(fact => fact.Balance = (-1m).ToMoney("USD"))),
        Sound(Event(fact => fact.Balance = new Money { CurrencyCode = "USD", Units = long.MaxValue, Nanos = 999_999_999 })),
        Sound(Event(fact => fact.TransactionId = "no id")),
        Sound(Event(fact => fact.DecidedUnixUs = long.MaxValue)),
        BadRecords.Record("2", Event().ToByteArray()),
        BadRecords.Record(version: null, Event().ToByteArray()),
    ];

    /// <summary>What to send to a reply topic.</summary>
    public static IEnumerable<Message<string, byte[]>> ForReplies() => [.. Garbage(), .. Commands(), .. Events(), .. Replies(), DeadLetter()];

    /// <summary>What to send to the dead letters.</summary>
    public static IEnumerable<Message<string, byte[]>> ForDeadLetters() => [.. Garbage(), .. Commands(), .. Events(), .. Replies()];

    /// <summary>What to send to a request topic, beside commands.</summary>
    public static IEnumerable<Message<string, byte[]>> ForRequests() => [.. Events(), .. Replies(), DeadLetter()];

    private static IEnumerable<Message<string, byte[]>> Garbage()
    {
        yield return BadRecords.Record("1", "this is nothing"u8.ToArray());
        yield return BadRecords.Record("1", []);
        yield return BadRecords.Record("1", value: null, key: null);
        yield return BadRecords.Record(new string('9', 10_000), "x"u8.ToArray());
        yield return BadRecords.Record("1", BadRecords.Oversized());
    }

    private static IEnumerable<Message<string, byte[]>> Commands() =>
        BadRecords.Commands(PaymentType.Visa).Select(command => Sound(command));

    private static IEnumerable<Message<string, byte[]>> Events()
    {
        yield return Sound(Event());
        yield return Sound(Event(fact => fact.PaymentDeclined = new PaymentDeclined
        {
            Amount = 1m.ToMoney("USD"),
            Reason = DeclineReason.CreditLimitExceeded,
        }));
        yield return Sound(Event(fact => fact.CreditLimitChanged = new CreditLimitChanged { Limit = 1m.ToMoney("USD") }));
    }

    // Of calls that nobody made: 0 is no correlation id, and the others begin at random.
    private static IEnumerable<Message<string, byte[]>> Replies()
    {
        var id = Guid.NewGuid().ToString();
        Reply[] replies =
        [
            new() { CorrelationId = 1, Payment = new MakePaymentResponse { TransactionId = id, Outcome = PaymentOutcome.Accepted } },
            new() { CorrelationId = 2, CreditLimit = new SetCreditLimitResponse { TransactionId = id } },
            new() { CorrelationId = 3, Balance = new CheckBalanceResponse { Version = long.MaxValue } },
            new() { CorrelationId = 4, Statement = new StatementPage { HasMore = true } },
            new() { CorrelationId = 5, Error = new Wire.V1.Error { StatusCode = (int)StatusCode.OK } },
            new() { CorrelationId = 0 },
        ];
        return replies.Select(reply => Sound(new ReplyBatch { Replies = { reply } }));
    }

    private static Message<string, byte[]> DeadLetter()
    {
        var letter = BadRecords.Record("1", "put aside once"u8.ToArray());
        letter.Headers.Add(Letters.ReasonHeader, "planted"u8.ToArray());
        letter.Headers.Add(Letters.TopicHeader, Encoding.UTF8.GetBytes(Topics.Payments(PaymentType.Visa)));
        letter.Headers.Add(Letters.PartitionHeader, "no number"u8.ToArray());
        letter.Headers.Add(Letters.OffsetHeader, "-1"u8.ToArray());
        return letter;
    }

    private static Message<string, byte[]> Sound(IMessage message) => BadRecords.Record("1", message.ToByteArray());

    // The account is a new one each time, so that no view holds anything of it.
    private static Event Event(Action<Event>? spoil = null)
    {
        var id = Guid.NewGuid().ToString();
        var fact = new Event
        {
            StreamId = StreamId.For(PaymentType.Visa, "stray-" + id),
            Version = 2,
            TransactionId = id,
            DecidedUnixUs = 1,
            Balance = 1m.ToMoney("USD"),
            PaymentAccepted = new PaymentAccepted { Amount = 1m.ToMoney("USD") },
        };
        spoil?.Invoke(fact);
        return fact;
    }
}
