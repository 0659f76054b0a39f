namespace Billing.Backends.Domain;

/// <summary>The state of one card account: the fold of its events.</summary>
/// <param name="Version">Number of events applied; the version of the account's stream.</param>
/// <param name="Balance">What the account owes: the sum of its accepted payments without what was given back of them.</param>
/// <param name="CreditLimit">The most it may owe.</param>
/// <param name="Currency">ISO 4217; null until the first accepted payment or limit fixes it.</param>
public sealed record Account(long Version, decimal Balance, decimal CreditLimit, string? Currency)
{
    /// <summary>An account without events.</summary>
    /// <param name="creditLimit">The limit of an account for which none was set, in whatever its currency will be.</param>
    public static Account Opened(decimal creditLimit) => new(0, 0, creditLimit, null);

    /// <summary>What the account may still spend; never negative, even if the limit was lowered below the balance.
    /// </summary>
    public decimal Available => Math.Max(0, CreditLimit - Balance);

    /// <summary>The account after one more event.</summary>
    public Account Apply(AccountEvent fact) => fact.ApplyTo(this);
}
