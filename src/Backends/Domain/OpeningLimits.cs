using System.Collections.Frozen;

namespace Billing.Backends.Domain;

/// <summary>What an account may owe before a limit of its own is set, by its currency: nothing in a currency that is
/// not listed.</summary>
/// <param name="amounts">The amount in units of each currency (ISO 4217), zero or more.</param>
public sealed class OpeningLimits(IReadOnlyDictionary<string, decimal> amounts) : IEquatable<OpeningLimits>
{
    private readonly FrozenDictionary<string, decimal> _amounts = amounts.ToFrozenDictionary(StringComparer.Ordinal);

    /// <summary>The limit of an account in a currency.</summary>
    public decimal In(string currency) => _amounts.GetValueOrDefault(currency);

    /// <inheritdoc/>
    public bool Equals(OpeningLimits? other) =>
        other is not null && _amounts.Count == other._amounts.Count && _amounts.All(other._amounts.Contains);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as OpeningLimits);

    /// <inheritdoc/>
    public override int GetHashCode() => _amounts.Count;
}
