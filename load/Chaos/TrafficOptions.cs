using Billing.LocalStack.Credentials;

namespace Billing.Chaos;

/// <summary>The options of <see cref="Traffic"/>.</summary>
public sealed record TrafficOptions
{
    /// <summary>Addresses of the proxies.</summary>
    public required IReadOnlyList<string> Proxies { get; init; }

    /// <summary>REST addresses of the proxies; without any, no payments are queued.</summary>
    public IReadOnlyList<string> RestProxies { get; init; } = [];

    /// <summary>Addresses of the proxies for operators; null where they are those for callers.</summary>
    public IReadOnlyList<string>? AdminProxies { get; init; }

    /// <summary>The credentials of the stack, which callers then need; null if it lets in everyone.</summary>
    public StackCredentials? Credentials { get; init; }

    /// <summary>The file to which the answers are written.</summary>
    public required string Journal { get; init; }

    /// <summary>The file to which the statuses of queued payments are written.</summary>
    public string QueuedJournal => Path.ChangeExtension(Journal, ".queued.csv");

    /// <summary>Number of workers, each with one request at a time.</summary>
    public int Workers { get; init; } = 64;

    /// <summary>Maximum payments per second of all workers together.</summary>
    public int Rate { get; init; } = 300;

    /// <summary>Number of accounts of each payment type.</summary>
    public int Accounts { get; init; } = 200;

    /// <summary>The prefix of the account ids, which must differ from that of other traffic.</summary>
    public string AccountPrefix { get; init; } = "soak-";

    /// <summary>The seed of the accounts and amounts.</summary>
    public int Seed { get; init; }

    /// <summary>Share of payments, and of what is done with them, that are sent twice at the same
    /// time, in percent.</summary>
    public int DuplicatePercent { get; init; } = 5;

    /// <summary>Share of payments that are followed by a balance check, in percent.</summary>
    public int BalancePercent { get; init; } = 10;

    /// <summary>Share of payments in euros instead of dollars, in percent: they are declined if the account
    /// is kept in dollars.</summary>
    public int OtherCurrencyPercent { get; init; }

    /// <summary>Share of payments with notes, in percent.</summary>
    public int NotesPercent { get; init; } = 40;

    /// <summary>Share of payments that are queued over REST, in percent: their callers ask for the status later.
    /// </summary>
    public int QueuedPercent { get; init; } = 10;

    /// <summary>Maximum queued payments per second.</summary>
    public double QueuedRate => RestProxies.Count == 0 ? 0 : Rate * QueuedPercent / 100d;

    /// <summary>Whether faults delete commands that were acknowledged: a queued payment may then be lost.</summary>
    public bool CommandsMayBeLost { get; init; }

    /// <summary>The deadline of a call, after which it is retried.</summary>
    public TimeSpan Deadline { get; init; } = TimeSpan.FromSeconds(10);
}

/// <summary>The results of the workers.</summary>
public sealed record TrafficResult
{
    /// <summary>Number of answered payments, without copies.</summary>
    public required int Payments { get; init; }

    /// <summary>Number of declined payments.</summary>
    public required int Declined { get; init; }

    /// <summary>Number of answered requests that were sent twice at the same time.</summary>
    public required int Duplicates { get; init; }

    /// <summary>Number of balances in answers to other requests than payments.</summary>
    public required int Balances { get; init; }

    /// <summary>Number of payments that were made or put on hold, and captured, voided,
    /// given back or left to expire.</summary>
    public required int Lives { get; init; }

    /// <summary>Number of times that an account was frozen, closed or reopened.</summary>
    public required int StatusChanges { get; init; }

    /// <summary>Number of payments that were queued over REST and whose status is final.</summary>
    public required int Queued { get; init; }

    /// <summary>Those of them that failed: nobody executed them before their deadlines.</summary>
    public required int QueuedFailed { get; init; }

    /// <summary>Number of payments without an answer at the end.</summary>
    public required int Unanswered { get; init; }

    /// <summary>Number of retries by the client.</summary>
    public required long Retried { get; init; }

    /// <summary>Number of retries by the workers, after the client had given up.</summary>
    public required long AskedAgain { get; init; }

    /// <summary>The number of failures after the client's own retries, by status and reason.</summary>
    public required IReadOnlyDictionary<string, long> Failures { get; init; }

    /// <summary>Invalid answers: different from that of the copy, or older than requested.</summary>
    public required IReadOnlyList<string> Violations { get; init; }
}
