namespace Billing.Messaging.Requests;

/// <summary>What callers may do, by the names that tokens and settings use. Each kind of request, method, route and
/// page needs exactly one. To give money back, to charge what is on hold and to change an account are rights of their
/// own: whoever takes payments needs none of them.</summary>
public static class Scopes
{
    /// <summary>To make payments, and to ask what became of one that was queued.</summary>
    public const string PaymentsWrite = "payments:write";

    /// <summary>To give payments back.</summary>
    public const string PaymentsRefund = "payments:refund";

    /// <summary>To put amounts on hold.</summary>
    public const string HoldsWrite = "holds:write";

    /// <summary>To end holds: to capture what is on hold, or to void it. Both are for whoever delivers or cancels an
    /// order, and not for who takes it.</summary>
    public const string HoldsCapture = "holds:capture";

    /// <summary>To read balances, statements and transactions.</summary>
    public const string AccountsRead = "accounts:read";

    /// <summary>To set credit limits and the status of accounts: for operators.</summary>
    public const string AccountsManage = "accounts:manage";

    /// <summary>To watch the live page, and to be told who sent what: for operators.</summary>
    public const string OperationsRead = "operations:read";

    /// <summary>To have calls traced by sending a sampled <c>traceparent</c>.</summary>
    public const string TracesForce = "traces:force";

    /// <summary>All scopes.</summary>
    public static IReadOnlyList<string> All { get; } =
    [
        PaymentsWrite, PaymentsRefund, HoldsWrite, HoldsCapture, AccountsRead, AccountsManage, OperationsRead,
        TracesForce,
    ];

    /// <summary>Whether what needs a scope is for operators, and served at their address only.</summary>
    public static bool IsForOperators(string scope) => scope is AccountsManage or OperationsRead;
}
