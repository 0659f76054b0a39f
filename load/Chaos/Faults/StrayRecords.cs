using System.Text;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.V1;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;

namespace Billing.Chaos.Faults;

/// <summary>Valid and invalid records of every kind, for topics where they do not belong: for the event topic, records
/// that are not events, and events that do not fit their account; for the reply topic of a proxy, records that are not
/// replies, and replies to no call; for the dead letters, records that were not sent there by a backend. None may stop
/// a service, change a balance or answer a call.</summary>
public static class StrayRecords
{
    /// <summary>Returns the records for the event topic.</summary>
    public static IEnumerable<Message<string, byte[]>> ForEvents() =>
    [
        .. Garbage(), .. Commands(), .. Replies(), DeadLetter(),
        Versioned(Event(fact => fact.StreamId = "")),
        Versioned(Event(fact => fact.Version = 0)),
        Versioned(Event(fact => fact.Version = -1)),
        // A version far ahead of the account, a missing fact or balance, and a balance that does not match the event.
        Versioned(Event(fact => fact.Version = long.MaxValue)),
        Versioned(Event(fact => fact.PaymentAccepted = null)),
        Versioned(Event(fact => fact.PaymentAccepted.Amount = null)),
        Versioned(Event(fact => fact.Balance = null)),
        Versioned(Event(fact => fact.Balance = (-1m).ToMoney("USD"))),
        Versioned(Event(
            fact => fact.Balance = new Money { CurrencyCode = "USD", Units = long.MaxValue, Nanos = 999_999_999 })),
        Versioned(Event(fact => fact.TransactionId = "no id")),
        Versioned(Event(fact => fact.DecidedUnixUs = long.MaxValue)),
        BadRecords.Record("2", Event().ToByteArray()),
        BadRecords.Record(version: null, Event().ToByteArray()),
    ];

    /// <summary>Returns the records for a reply topic.</summary>
    public static IEnumerable<Message<string, byte[]>> ForReplies() =>
    [
        .. Garbage(), .. Commands(), .. Events(), .. Replies(), DeadLetter(),
    ];

    /// <summary>Returns the records for the dead letters.</summary>
    public static IEnumerable<Message<string, byte[]>> ForDeadLetters() =>
    [
        .. Garbage(), .. Commands(), .. Events(), .. Replies(),
    ];

    /// <summary>Returns the records for a request topic, in addition to commands.</summary>
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
        BadRecords.Commands(PaymentType.Visa).Select(command => Versioned(command));

    private static IEnumerable<Message<string, byte[]>> Events() =>
        Of(Wire.V1.Event.Descriptor, "fact").Select(fact => Versioned(Event(recorded => fact.SetOn(recorded))));

    // Replies to no call: 0 is not a valid correlation id, and the proxies' correlation ids start at a random number.
    private static IEnumerable<Message<string, byte[]>> Replies()
    {
        var number = 0UL;
        IEnumerable<Reply> replies =
        [
            .. Of(Reply.Descriptor, "result").Select(answer =>
            {
                var reply = new Reply { CorrelationId = ++number };
                answer.SetOn(reply);
                return reply;
            }),
            new() { CorrelationId = ++number, Error = new Wire.V1.Error { StatusCode = (int)StatusCode.OK } },
            new() { CorrelationId = 0 },
        ];
        return replies.Select(reply => Versioned(new ReplyBatch { Replies = { reply } }));
    }

    // Each member of a choice, with a valid value.
    private static IEnumerable<(FieldDescriptor Field, IMessage Value)> Of(MessageDescriptor type, string choice)
    {
        var valid = new ValidMessages(new Random(1), "stray", PaymentType.Visa);
        return type.Oneofs.Single(oneof => oneof.Name == choice).Fields
            .Select(field => (field, valid.Of(field.MessageType)));
    }

    private static void SetOn(this (FieldDescriptor Field, IMessage Value) member, IMessage message) =>
        member.Field.Accessor.SetValue(message, member.Value);

    private static Message<string, byte[]> DeadLetter()
    {
        var letter = BadRecords.Record("1", "put aside once"u8.ToArray());
        letter.Headers.Add(DeadLetterPublisher.ReasonHeader, "planted"u8.ToArray());
        letter.Headers.Add(DeadLetterPublisher.TopicHeader, Encoding.UTF8.GetBytes(Topics.Payments(PaymentType.Visa)));
        letter.Headers.Add(DeadLetterPublisher.PartitionHeader, "no number"u8.ToArray());
        letter.Headers.Add(DeadLetterPublisher.OffsetHeader, "-1"u8.ToArray());
        return letter;
    }

    private static Message<string, byte[]> Versioned(IMessage message) => BadRecords.Record("1", message.ToByteArray());

    // A new account each time, so that no balance view contains it.
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
