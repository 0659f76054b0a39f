using Billing.V1;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Testing;

/// <summary>Generators of valid values, and of arbitrary bytes.</summary>
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

    public static Gen<byte[]> Bytes { get; } = Gen.Choose(0, 255).Select(b => (byte)b).ArrayOf();

    /// <summary>A valid command, as a proxy of any release may have sent it.</summary>
    public static Gen<Command> Command { get; } =
        from id in TransactionId
        from proxy in AccountId
        from correlation in AnyLong
        from deadline in AnyLong
        from account in AccountId
        from type in PaymentType
        from amount in Amount
        from isPayment in Gen.Elements(true, false)
        select With(
            new Command
            {
                CorrelationId = unchecked((ulong)correlation),
                TransactionId = id.ToString(),
                ProxyTopic = "billing.replies." + proxy,
                DeadlineUnixUs = deadline,
            },
            isPayment, account, type, amount);

    private static Gen<Money> AmountOf(Gen<string> currencies, int leastUnits, Gen<int> nanos) =>
        from currency in currencies
        from units in Gen.Choose(leastUnits, 999_999_999)
        from fraction in nanos
        select new Money { CurrencyCode = currency, Units = units, Nanos = fraction };

    private static Command With(Command command, bool isPayment, string account, PaymentType type, Money amount)
    {
        if (isPayment)
        {
            command.Payment = new MakePaymentRequest
            {
                TransactionId = command.TransactionId,
                AccountId = account,
                PaymentType = type,
                Amount = amount,
            };
        }
        else
        {
            command.Balance = new CheckBalanceRequest { AccountId = account, PaymentType = type };
        }
        return command;
    }
}
