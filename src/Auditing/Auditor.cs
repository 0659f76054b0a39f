using Billing.Auditing.Exports;
using Billing.Journals;
using Npgsql;

namespace Billing.Auditing;

/// <summary>Compares the answers that clients received with the event store, and checks the store for consistency: each
/// acknowledged payment must be stored once, with the amount, account, outcome, version and balance of its answer;
/// versions must be consecutive and in the order in which payments were made; an event must be found by a repeated
/// command, and state the balance; and every payment must have been accepted or declined according to the rules, which
/// the auditor implements independently.</summary>
/// <param name="databases">The connection strings of all databases of the event store.</param>
/// <param name="schema">Its schema.</param>
public sealed class Auditor(IReadOnlyCollection<string> databases, string schema = "billing")
{
    /// <summary>Audits an event store with one database.</summary>
    public Auditor(string connectionString, string schema = "billing")
        : this([connectionString], schema)
    {
    }

    /// <summary>Addresses of proxies from which every account's balance is requested; none by default.</summary>
    public IReadOnlyList<string> Proxies { get; init; } = [];

    /// <summary>The file, in PEM, of the only authorities that are trusted for the proxies' certificates; null for
    /// those that the machine trusts.</summary>
    public string? ProxiesCaFile { get; init; }

    /// <summary>The token with which the proxies are asked, with the scope to read every account; null for
    /// none.</summary>
    public string? Token { get; init; }

    /// <summary>The credit limit of an account before one is set, by its currency: zero in a currency that is not
    /// listed. Null if unknown, and then only accounts with a limit of their own are checked against it.</summary>
    public IReadOnlyDictionary<string, decimal>? OpeningLimits { get; init; } = new Dictionary<string, decimal>();

    /// <summary>Whether the journals hold every payment that was made; then the event of any other
    /// payment is a fault.</summary>
    public bool JournalsAreComplete { get; init; }

    /// <summary>The most by which the clocks of the machines with clients differ:
    /// two calls this close have no order.</summary>
    public TimeSpan ClockTolerance { get; init; }

    /// <summary>An export of the events whose days are compared with the store; null for none.</summary>
    public ExportManifest? Export { get; init; }

    /// <summary>Receives the progress of the audit.</summary>
    public IProgress<AuditProgress>? Progress { get; set; }

    /// <summary>Audits journals against the store.</summary>
    /// <param name="journals">The clients' files; entries that are appended during the audit are ignored.</param>
    /// <param name="cancellationToken">Cancels the audit.</param>
    /// <exception cref="FormatException">A file is not a journal; the message contains file and line.</exception>
    /// <exception cref="AuditException">A database has no event store, or a shard is in none of them
    /// or is being moved; or the proxies cannot be asked in this way.</exception>
    /// <exception cref="NpgsqlException">The database cannot be used.</exception>
    public async Task<AuditResult> RunAsync(IEnumerable<string> journals, CancellationToken cancellationToken)
    {
        // The lengths are read before the store: answers up to now must be in the store, later ones may not be.
        var files = journals.Select(path => (Path: path, new FileInfo(path).Length)).ToList();
        var unbalanced = new Findings();
        await using var store = await StoreScans.OpenAsync(databases, schema, Progress, cancellationToken);
        var order = new RealTimeOrder(ClockTolerance);
        var transactions = new TransactionLedger(store.Expected, unbalanced, order);
        var balances = new AnsweredBalances(unbalanced);
        // The journals are read twice, for balances before the events and for calls after them, instead of
        // being kept in memory.
        await Task.Run(
            () => AddBalances(Entries("Balances in journals", files, cancellationToken), balances), cancellationToken);
        var accounts = new AccountLedger(OpeningLimits, transactions, balances, unbalanced);
        await store.ReadStreamsAsync(accounts, cancellationToken);
        var days = Export is null ? null : new ExportedDays(Export);
        var events = await Task.Run(
            () => store.ReadEventsAsync(accounts, days, unbalanced, cancellationToken), cancellationToken);
        accounts.Conclude();
        var misexported = new Findings();
        foreach (var difference in days?.Differences() ?? [])
        {
            misexported.Add(difference);
        }
        await Task.Run(
            () => AddCalls(Entries("Payments in journals", files, cancellationToken), transactions, order),
            cancellationToken);
        order.Conclude();
        var counts = transactions.Conclude(JournalsAreComplete);
        var asked = Proxies.Count == 0
            ? 0
            : await new BalanceCheck(Proxies, ProxiesCaFile, Token, Progress).RunAsync(
                [.. accounts.Accounts], unbalanced, cancellationToken);
        return new AuditResult
        {
            Accounts = accounts.Count,
            Events = events,
            Receipts = store.Receipts,
            Acknowledged = counts.Acknowledged,
            Recorded = counts.Recorded,
            Unanswered = counts.Unanswered,
            UnansweredRecorded = counts.UnansweredRecorded,
            BalancesInAnswers = balances.Count,
            BalancesRead = asked,
            Lost = transactions.Lost,
            Doubled = transactions.Doubled,
            Wrong = transactions.Wrong,
            Holes = accounts.Holes,
            Misjudged = accounts.Misjudged,
            Unbalanced = unbalanced,
            Unexplained = transactions.Unexplained,
            FailedYetRecorded = transactions.FailedYetRecorded,
            Reordered = order.Reordered,
            Stale = balances.Stale,
            Misexported = days is null ? null : misexported,
        };
    }

    private static void AddBalances(IEnumerable<JournalEntry> entries, AnsweredBalances balances)
    {
        foreach (var entry in entries.Where(entry => entry.IsBalance))
        {
            balances.Add(entry);
        }
    }

    private static void AddCalls(IEnumerable<JournalEntry> entries, TransactionLedger transactions, RealTimeOrder order)
    {
        foreach (var entry in entries)
        {
            if (entry.IsBalance)
            {
                order.Add(entry.StreamId, entry.Version, entry.Span, isPayment: false);
            }
            else
            {
                transactions.AddAnswer(entry);
            }
        }
    }

    private IEnumerable<JournalEntry> Entries(
        string part, List<(string Path, long Length)> journals, CancellationToken cancellationToken)
    {
        const int Step = 1 << 13;
        var total = journals.Sum(j => j.Length);
        var before = 0L;
        foreach (var (path, length) in journals)
        {
            using var reader = new JournalReader(path, length);
            for (var entries = 1; reader.TryRead(out var entry); entries++)
            {
                yield return entry;
                if (entries % Step == 0)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                    Progress?.Report(new AuditProgress(part, before + reader.Position, total));
                }
            }
            before += length;
        }
        Progress?.Report(new AuditProgress(part, total, total));
    }
}

/// <summary>The given database cannot be audited. The message is text for the user.</summary>
public sealed class AuditException : Exception
{
    /// <inheritdoc/>
    public AuditException()
    {
    }

    /// <inheritdoc/>
    public AuditException(string message)
        : base(message)
    {
    }

    /// <inheritdoc/>
    public AuditException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
