namespace Billing.Auditing;

/// <summary>What an audit found.</summary>
public sealed record AuditResult
{
    /// <summary>Accounts that the store holds.</summary>
    public required long Accounts { get; init; }

    /// <summary>Events that the store holds.</summary>
    public required long Events { get; init; }

    /// <summary>Receipts that the store holds.</summary>
    public required long Receipts { get; init; }

    /// <summary>Payments that a client was told are accepted or declined.</summary>
    public required long Acknowledged { get; init; }

    /// <summary>Of these, the ones that the store holds.</summary>
    public required long Recorded { get; init; }

    /// <summary>Payments that no client got an answer to.</summary>
    public required long Unanswered { get; init; }

    /// <summary>Of these, the ones that the store holds.</summary>
    public required long UnansweredRecorded { get; init; }

    /// <summary>Balances that the journals hold.</summary>
    public long BalancesTold { get; init; }

    /// <summary>Accounts whose balances the proxies were asked for.</summary>
    public long BalancesAsked { get; init; }

    /// <summary>Acknowledged payments that the store does not hold.</summary>
    public required Findings Lost { get; init; }

    /// <summary>Transactions that the store holds more than once.</summary>
    public required Findings Doubled { get; init; }

    /// <summary>Answers that differ from what the store holds in account, currency, amount, outcome, reason or
    /// version.</summary>
    public required Findings Wrong { get; init; }

    /// <summary>Streams whose versions are not 1, 2, 3 and so on up to the version that the stream is said to have.</summary>
    public required Findings Holes { get; init; }

    /// <summary>Receipts, snapshots, answers, told balances and, where proxies were asked, balances that are missing, or differ from what
    /// the events sum up to; each with both values.</summary>
    public required Findings Unbalanced { get; init; }

    /// <summary>Payments that were accepted or declined against the rules for limit and currency, or declined for the wrong
    /// reason, and limits that no account may have.</summary>
    public required Findings Misjudged { get; init; }

    /// <summary>Whether there is nothing amiss.</summary>
    public bool IsClean =>
        Lost.Count == 0 && Doubled.Count == 0 && Wrong.Count == 0 && Holes.Count == 0 && Unbalanced.Count == 0
        && Misjudged.Count == 0;
}
