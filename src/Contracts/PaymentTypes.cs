using Billing.V1;
using Google.Protobuf.Reflection;

namespace Billing.Contracts;

/// <summary>The card networks, as billing.proto defines them. Stream ids, topics, rules and messages are derived from this
/// list.</summary>
public static class PaymentTypes
{
    // Indexed by enum number; null where no type has that number.
    private static readonly string?[] Names = NamesByNumber();

    /// <summary>The payment types that an account may have.</summary>
    public static IReadOnlyList<PaymentType> All { get; } =
        [.. Enumerable.Range(0, Names.Length).Where(number => Names[number] is not null).Select(number => (PaymentType)number)];

    /// <summary>The names of all types as in billing.proto, joined for use in a message: <c>VISA, MASTERCARD, DISCOVER or AMEX</c>.</summary>
    public static string Listed { get; } = string.Join(", ", All.SkipLast(1).Select(Upper)) + " or " + Upper(All[^1]);

    /// <summary>Whether billing.proto defines the type; false for unspecified.</summary>
    public static bool IsKnown(PaymentType type) => (uint)type < (uint)Names.Length && Names[(int)type] is not null;

    /// <summary>The name in lower case, as used in topic names and stream ids, e.g. <c>visa</c>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such type.</exception>
    public static string NameOf(PaymentType type) => IsKnown(type)
        ? Names[(int)type]!
        : throw new ArgumentOutOfRangeException(nameof(type), type, $"A payment type must be {Listed}.");

    private static string?[] NamesByNumber()
    {
        var values = BillingReflection.Descriptor.FindTypeByName<EnumDescriptor>(nameof(PaymentType)).Values;
        var names = new string?[values.Max(value => value.Number) + 1];
        foreach (var value in values.Where(value => value.Number != (int)PaymentType.Unspecified))
        {
            names[value.Number] = value.Name.ToLowerInvariant();
        }
        return names;
    }

    private static string Upper(PaymentType type) => NameOf(type).ToUpperInvariant();
}
