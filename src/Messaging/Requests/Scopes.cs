namespace Billing.Messaging.Requests;

/// <summary>The permissions of callers, by their names in tokens.</summary>
public static class Scopes
{
    /// <summary>To make payments.</summary>
    public const string PaymentsWrite = "payments:write";

    /// <summary>To read balances and statements.</summary>
    public const string BalancesRead = "balances:read";

    /// <summary>To set credit limits, and to use the live page.</summary>
    public const string Admin = "admin";

    /// <summary>All scopes.</summary>
    public static IReadOnlyList<string> All { get; } = [PaymentsWrite, BalancesRead, Admin];
}
