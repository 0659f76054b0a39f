namespace Billing.Auditing;

/// <summary>The result of an audit.</summary>
public sealed record AuditResult
{
    /// <summary>Number of accounts in the store.</summary>
    public required long Accounts { get; init; }

    /// <summary>Number of events in the store.</summary>
    public required long Events { get; init; }

    /// <summary>Number of events that a repeated command would find.</summary>
    public required long Receipts { get; init; }

    /// <summary>Number of payments that were answered as accepted or declined.</summary>
    public required long Acknowledged { get; init; }

    /// <summary>Number of acknowledged payments that are in the store.</summary>
    public required long Recorded { get; init; }

    /// <summary>Number of payments without an answer.</summary>
    public required long Unanswered { get; init; }

    /// <summary>Number of unanswered payments that are in the store.</summary>
    public required long UnansweredRecorded { get; init; }

    /// <summary>Number of balances in the journals.</summary>
    public long BalancesInAnswers { get; init; }

    /// <summary>Number of accounts whose balances were requested from the proxies.</summary>
    public long BalancesRead { get; init; }

    /// <summary>Acknowledged payments that are not in the store.</summary>
    public required Findings Lost { get; init; }

    /// <summary>Transactions that are in the store more than once.</summary>
    public required Findings Doubled { get; init; }

    /// <summary>Answers that differ from the event in account, currency, amount, outcome, reason or version.</summary>
    public required Findings Wrong { get; init; }

    /// <summary>Streams whose events do not have the versions 1, 2, 3 and so on up to the
    /// version of the stream.</summary>
    public required Findings Holes { get; init; }

    /// <summary>Receipts, balances that events state, answered balances and, if requested, balances from the proxies
    /// that are missing or differ from the sum of the events; each with both values.</summary>
    public required Findings Unbalanced { get; init; }

    /// <summary>Payments that were accepted or declined in violation of the rules for limit and currency, or declined
    /// for the wrong reason, and invalid limits.</summary>
    public required Findings Misjudged { get; init; }

    /// <summary>Payments with an event and no entry in a journal; empty unless the journals are complete.</summary>
    public Findings Unexplained { get; init; } = new();

    /// <summary>Payments with an event whose clients were told that they had failed for good.</summary>
    public Findings FailedYetRecorded { get; init; } = new();

    /// <summary>Payments with an earlier version than one that an answer had shown before they were sent.</summary>
    public Findings Reordered { get; init; } = new();

    /// <summary>Balances that are older than their requests allowed.</summary>
    public Findings Stale { get; init; } = new();

    /// <summary>Days of an export that differ from the store; null if no export was compared.</summary>
    public Findings? Misexported { get; init; }

    /// <summary>All faults, by the name of their count and of each.</summary>
    public IReadOnlyList<(string Count, string One, Findings Found)> Faults =>
    [
        ("wrong", "wrong", Wrong), ("lost", "lost", Lost), ("doubled", "doubled", Doubled), ("holes", "hole", Holes),
        ("unbalanced", "unbalanced", Unbalanced), ("misjudged", "misjudged", Misjudged),
        ("unexplained", "unexplained", Unexplained),
        ("failed yet recorded", "failed yet recorded", FailedYetRecorded),
        ("reordered", "reordered", Reordered), ("stale", "stale", Stale),
        .. Misexported is { } found
            ? [("misexported", "misexported", found)]
            : Array.Empty<(string, string, Findings)>(),
    ];

    /// <summary>Whether the audit found no fault.</summary>
    public bool IsClean => Faults.All(fault => fault.Found.Count == 0);
}
