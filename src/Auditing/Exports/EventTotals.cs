using System.Collections.Frozen;
using System.Globalization;
using System.Runtime.InteropServices;
using Billing.Contracts;

namespace Billing.Auditing.Exports;

/// <summary>The number of some events by kind, the sums of their amounts by currency and kind, and of what was on hold
/// after them by currency.</summary>
public sealed class EventTotals
{
    // The most decimals that an amount has.
    private const int DecimalsMax = 9;

    private static readonly FrozenDictionary<int, string> Formats = Enumerable.Range(0, DecimalsMax + 1)
        .ToFrozenDictionary(
            decimals => decimals,
            decimals => "0." + new string('0', decimals) + new string('#', DecimalsMax - decimals));

    private readonly Dictionary<string, long> _kinds = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Currency, string Kind), decimal> _sums = [];
    private readonly Dictionary<string, decimal> _onHold = new(StringComparer.Ordinal);

    /// <summary>Number of events.</summary>
    public long Events => _kinds.Values.Sum();

    /// <summary>Number of events of each kind.</summary>
    public SortedDictionary<string, long> Kinds => new(_kinds, StringComparer.Ordinal);

    /// <summary>The sums as text, by currency and kind.</summary>
    public SortedDictionary<string, SortedDictionary<string, string>> Sums
    {
        get
        {
            var sums = new SortedDictionary<string, SortedDictionary<string, string>>(StringComparer.Ordinal);
            foreach (var ((currency, kind), sum) in _sums)
            {
                if (!sums.TryGetValue(currency, out var kinds))
                {
                    sums.Add(currency, kinds = new(StringComparer.Ordinal));
                }
                kinds.Add(kind, Text(sum, currency));
            }
            return sums;
        }
    }

    /// <summary>The sums of what was on hold after each event, as text, by the account's currency;
    /// without those of zero.</summary>
    public SortedDictionary<string, string> OnHold =>
        new(_onHold.ToDictionary(sum => sum.Key, sum => Text(sum.Value, sum.Key)), StringComparer.Ordinal);

    /// <summary>The kind of an event: the name under which it is stored, without the version of its shape.</summary>
    public static string KindOf(string type) => type[..type.LastIndexOf("_v", StringComparison.Ordinal)];

    /// <summary>An amount with at least the decimals of its currency, and with all that it has.</summary>
    public static string Text(decimal amount, string? currency) =>
        amount.ToString(Formats[Currencies.DecimalsOf(currency ?? "") ?? 0], CultureInfo.InvariantCulture);

    /// <summary>Adds an event.</summary>
    /// <param name="kind">Its kind.</param>
    /// <param name="currency">The currency of its amount; null if it has none.</param>
    /// <param name="amount">Its amount.</param>
    /// <param name="accountCurrency">The currency of the account after it; null if it has none.</param>
    /// <param name="onHold">What is on hold on the account after it.</param>
    public void Add(string kind, string? currency, decimal amount, string? accountCurrency, decimal onHold)
    {
        CollectionsMarshal.GetValueRefOrAddDefault(_kinds, kind, out _)++;
        if (currency is not null)
        {
            CollectionsMarshal.GetValueRefOrAddDefault(_sums, (currency, kind), out _) += amount;
        }
        if (accountCurrency is not null && onHold != 0)
        {
            CollectionsMarshal.GetValueRefOrAddDefault(_onHold, accountCurrency, out _) += onHold;
        }
    }
}
