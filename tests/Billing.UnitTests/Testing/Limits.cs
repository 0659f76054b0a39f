using Billing.Backends.Domain;

namespace Billing.UnitTests.Testing;

/// <summary>Opening limits of tests.</summary>
internal static class Limits
{
    private static readonly string[] Currencies = ["USD", "EUR", "CHF"];

    /// <summary>An account without events that may owe as much in each of the currencies that tests use.</summary>
    public static Account Opened(decimal limit) => Account.Opened(
        new OpeningLimits(Currencies.ToDictionary(currency => currency, _ => limit)));
}
