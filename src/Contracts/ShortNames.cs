using System.Collections.Concurrent;
using System.Collections.Frozen;
using Google.Protobuf.Reflection;

namespace Billing.Contracts;

/// <summary>The names of an enum's values without the prefix that they have in billing.proto: <c>VISA</c> for
/// <c>PAYMENT_TYPE_VISA</c>. REST, webhooks and error messages have them.</summary>
public sealed class ShortNames
{
    private static readonly ConcurrentDictionary<EnumDescriptor, ShortNames> Known = new();

    private readonly FrozenDictionary<int, string> _names;
    private readonly FrozenDictionary<string, int> _numbers;

    private ShortNames(EnumDescriptor values)
    {
        var prefix = values.FindValueByNumber(0).Name[..^"UNSPECIFIED".Length];
        var named = values.Values.Where(value => value.Number != 0)
            .Select(value => (value.Number, Name: value.Name[prefix.Length..])).ToList();
        All = [.. named.Select(value => value.Name)];
        _names = named.ToFrozenDictionary(value => value.Number, value => value.Name);
        _numbers = named.ToFrozenDictionary(value => value.Name, value => value.Number, StringComparer.Ordinal);
    }

    /// <summary>All names, in the order of the contract.</summary>
    public IReadOnlyList<string> All { get; }

    /// <summary>All names, joined for use in a message: <c>OPEN, FROZEN or CLOSED</c>.</summary>
    public string Listed => string.Join(", ", All.SkipLast(1)) + " or " + All[^1];

    /// <summary>The names of the values of an enum, the value 0 of which has a name that ends in
    /// <c>UNSPECIFIED</c>.</summary>
    public static ShortNames In(EnumDescriptor values) =>
        Known.GetOrAdd(values, static values => new ShortNames(values));

    /// <summary>The names of the values of an enum of billing.proto.</summary>
    public static ShortNames In<T>()
        where T : struct, Enum => In(V1.BillingReflection.Descriptor.FindTypeByName<EnumDescriptor>(typeof(T).Name));

    /// <summary>The name of a value; null if the contract has no such value, and for 0.</summary>
    public string? Of(int number) => _names.GetValueOrDefault(number);

    /// <summary>The number of the value with a name; 0 if there is none.</summary>
    public int NumberOf(string name) => _numbers.GetValueOrDefault(name);
}
