using Billing.Chaos.Faults;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf.Reflection;

namespace Billing.UnitTests.Testing;

/// <summary>Generators of valid values.</summary>
internal static class Generate
{
    public static Gen<int> AnyInt { get; } = Gen.Choose(int.MinValue, int.MaxValue);

    public static Gen<long> AnyLong { get; } =
        from high in AnyInt
        from low in AnyInt
        select ((long)high << 32) | (uint)low;

    public static Gen<Guid> TransactionId { get; } =
        Gen.Choose(0, 255).ArrayOf(16).Select(bytes => new Guid(Array.ConvertAll(bytes, b => (byte)b)))
            .Where(id => id != Guid.Empty);

    public static Gen<string> AccountId { get; } =
        from length in Gen.Choose(1, 64)
        from characters in Gen.Elements("ABCXYZabcxyz0189._-".ToCharArray()).ArrayOf(length)
        select new string(characters);

    public static Gen<PaymentType> PaymentType { get; } =
        Gen.Elements(V1.PaymentType.Visa, V1.PaymentType.Mastercard, V1.PaymentType.Discover, V1.PaymentType.Amex);

    public static Gen<string> Currency { get; } = Gen.Elements("USD", "EUR", "CHF");

    /// <summary>An amount that a payment of any release may have: any nine decimals.</summary>
    public static Gen<Money> Amount { get; } = AmountOf(Currency, 0, Gen.Choose(1, 999_999_999));

    /// <summary>Valid amounts of a payment in currencies of 0, 2 and 3 decimals.</summary>
    public static Gen<Money> CallersAmount { get; } = Gen.OneOf(
        AmountOf(Gen.Elements("JPY", "KRW"), 1, Gen.Constant(0)),
        AmountOf(Currency, 0, Gen.Choose(1, 99).Select(cents => cents * 10_000_000)),
        AmountOf(Gen.Elements("KWD", "TND"), 0, Gen.Choose(1, 999).Select(mils => mils * 1_000_000)));

    /// <summary>A valid command of any kind, as a proxy of any release may have sent it.</summary>
    public static Gen<Command> Command { get; } =
        from proxy in AccountId
        from correlation in AnyLong
        from deadline in AnyLong
        from received in Gen.Choose(1, int.MaxValue)
        from account in AccountId
        from type in PaymentType
        from seed in AnyInt
        from kind in Gen.Elements(RequestKinds.All)
        let command = new ValidMessages(new Random(seed), account, type).Command(kind)
        select new Command(command)
        {
            CorrelationId = unchecked((ulong)correlation),
            ProxyTopic = kind.IsAnswered ? "billing.replies." + proxy : "",
            DeadlineUnixUs = deadline,
            ReceivedUnixUs = received,
            Timing = received % 2 == 0 ? new Timing { SentUnixUs = received } : null,
            IsQueued = kind == RequestKinds.Payment && received % 5 == 0,
        };

    /// <summary>A reply of any kind, to one of the first two calls of a proxy.</summary>
    public static Gen<Reply> Reply { get; } =
        from correlation in Gen.Choose(1, 2)
        from status in Gen.Choose(0, 16)
        from reply in Gen.Frequency(
            (12, Command.Where(command => RequestKinds.Of(command)!.IsAnswered)
                .Select(command => CompleteReplies.To(command))),
            (1, Gen.Constant(new Reply
            {
                Error = new() { StatusCode = status, Reason = "SOME_REASON", Message = "a message", Field = "a.field" },
            })))
        select new Reply(reply) { CorrelationId = (ulong)correlation };

    /// <summary>An event of any kind.</summary>
    public static Gen<Event> Event { get; } =
        from id in TransactionId
        from account in Gen.Elements("a", "b", "c")
        from version in Gen.Choose(1, 5)
        from amount in Amount
        from seed in AnyInt
        from kind in Gen.Elements<FieldDescriptor>(Wire.V1.Event.Descriptor.Oneofs.Single().Fields)
        select With(
            new Event
            {
                StreamId = "visa/" + account,
                Version = version,
                TransactionId = id.ToString(),
                DecidedUnixUs = 1_000_000,
                Balance = amount,
            },
            kind, seed);

    private static Event With(Event recorded, FieldDescriptor kind, int seed)
    {
        var valid = new ValidMessages(new Random(seed), "", V1.PaymentType.Visa);
        kind.Accessor.SetValue(recorded, valid.Of(kind.MessageType));
        return recorded;
    }

    private static Gen<Money> AmountOf(Gen<string> currencies, int leastUnits, Gen<int> nanos) =>
        from currency in currencies
        from units in Gen.Choose(leastUnits, 999_999_999)
        from fraction in nanos
        select new Money { CurrencyCode = currency, Units = units, Nanos = fraction };
}
