namespace Billing.Messaging.Requests;

/// <summary>The permissions of callers, by their names in tokens.</summary>
public static class Scopes
{
    /// <summary>To make payments, to follow them up, and to ask what became of them.</summary>
    public const string PaymentsWrite = "payments:write";

    /// <summary>To read balances, statements and transactions.</summary>
    public const string BalancesRead = "balances:read";

    /// <summary>To set credit limits and the status of accounts, to use the live page, and to read who sent
    /// what.</summary>
    public const string Admin = "admin";

    /// <summary>All scopes.</summary>
    public static IReadOnlyList<string> All { get; } = [PaymentsWrite, BalancesRead, Admin];
}
