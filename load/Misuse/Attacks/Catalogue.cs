namespace Billing.Misuse.Attacks;

/// <summary>Every attack.</summary>
internal static class Catalogue
{
    /// <summary>By phase.</summary>
    public static IReadOnlyList<Attack> All { get; } =
    [
        .. ConnectionAttacks.All, .. HeaderAttacks.All, .. BodyAttacks.All, .. StreamAttacks.All,
        .. ControlAttacks.All, .. UnreadAttacks.All, .. CallAttacks.All,
    ];

    /// <summary>The attack of a name.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    public static Attack Named(string name) => All.Single(attack => attack.Name == name);
}
