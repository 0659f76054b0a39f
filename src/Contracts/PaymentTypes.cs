using Billing.V1;

namespace Billing.Contracts;

/// <summary>The card networks, as billing.proto defines them. Stream ids, topics, rules and messages are
/// derived from this list.</summary>
public static class PaymentTypes
{
    // Indexed by enum number; null where no type has that number.
    private static readonly string?[] Names = NamesByNumber();

    /// <summary>The payment types that an account may have.</summary>
    public static IReadOnlyList<PaymentType> All { get; } =
        [
            .. Enumerable.Range(0, Names.Length).Where(number => Names[number] is not null)
                .Select(number => (PaymentType)number),
        ];

    /// <summary>The names of all types, joined for use in a message:
    /// <c>VISA, MASTERCARD, DISCOVER or AMEX</c>.</summary>
    public static string Listed { get; } = ShortNames.In<PaymentType>().Listed;

    /// <summary>Whether billing.proto defines the type; false for unspecified.</summary>
    public static bool IsKnown(PaymentType type) => (uint)type < (uint)Names.Length && Names[(int)type] is not null;

    /// <summary>The name in lower case, as used in topic names and stream ids, e.g. <c>visa</c>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such type.</exception>
    public static string NameOf(PaymentType type) => IsKnown(type)
        ? Names[(int)type]!
        : throw new ArgumentOutOfRangeException(nameof(type), type, $"A payment type must be {Listed}.");

    private static string?[] NamesByNumber()
    {
        var types = ShortNames.In<PaymentType>();
        var names = new string?[types.All.Max(types.NumberOf) + 1];
        foreach (var name in types.All)
        {
            names[types.NumberOf(name)] = name.ToLowerInvariant();
        }
        return names;
    }
}
