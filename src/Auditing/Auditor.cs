using Billing.Backends;
using Billing.Client.Load;
using Npgsql;

namespace Billing.Auditing;

/// <summary>Compares what clients were told with what the event store holds, and the store with itself: each acknowledged
/// payment must be there once, with the amount, account, outcome, version and balance that its client was told; versions must
/// follow one another; receipts and snapshots must agree with the events; and every payment must have been accepted or declined
/// by the rules, which the auditor applies by code of its own.</summary>
/// <param name="connectionString">The event store.</param>
/// <param name="schema">Its schema.</param>
public sealed class Auditor(string connectionString, string schema = "billing")
{
    /// <summary>Addresses of proxies to ask for every account's balance; none by default.</summary>
    public IReadOnlyList<string> Proxies { get; init; } = [];

    /// <summary>What an account may owe before a limit is set, in whatever its currency is; null where that is not known, and
    /// then only accounts with a limit are judged by it. The backends' default by default.</summary>
    public decimal? OpeningLimit { get; init; } = new BackendOptions().DefaultCreditLimit;

    /// <summary>Is told how far the audit is.</summary>
    public IProgress<AuditProgress>? Progress { get; set; }

    /// <summary>Audits journals against the store.</summary>
    /// <param name="journals">The clients' files; what is added to them meanwhile is left out.</param>
    /// <param name="cancellationToken">Ends the audit.</param>
    /// <exception cref="FormatException">A file is not a journal; the message names file and line.</exception>
    /// <exception cref="AuditException">The database has no event store.</exception>
    /// <exception cref="NpgsqlException">The database cannot be used.</exception>
    public async Task<AuditResult> RunAsync(IEnumerable<string> journals, CancellationToken cancellationToken)
    {
        // What a client was told before the store is looked at must be in it; of what comes later nothing is known.
        var told = journals.Select(path => (Path: path, new FileInfo(path).Length)).ToList();
        var unbalanced = new Findings();
        await using var store = await StoreScan.OpenAsync(connectionString, schema, Progress, cancellationToken);
        var transactions = new TransactionLedger(store.Expected, unbalanced);
        var balances = new ToldBalances(unbalanced);
        await Task.Run(() => ReadJournals("Told balances", told, (in JournalEntry entry) => AddBalance(balances, entry), cancellationToken), cancellationToken);
        var accounts = new AccountLedger(OpeningLimit, transactions, balances, unbalanced);
        await store.ReadStreamsAsync(accounts, cancellationToken);
        var events = Task.Run(() => store.ReadEventsAsync(accounts, unbalanced, cancellationToken), cancellationToken);
        var receipts = Task.Run(
            () => store.ReadReceiptsAsync(transactions, unbalanced, cancellationToken), cancellationToken);
        await Task.WhenAll(events, receipts);
        accounts.Conclude();
        await Task.Run(() => ReadJournals("Told payments", told, (in JournalEntry entry) => AddPayment(transactions, entry), cancellationToken), cancellationToken);
        var counts = transactions.Conclude();
        var asked = Proxies.Count == 0
            ? 0
            : await new BalanceCheck(Proxies, Progress).RunAsync([.. accounts.Accounts], unbalanced, cancellationToken);
        return new AuditResult
        {
            Accounts = accounts.Count,
            Events = await events,
            Receipts = await receipts,
            Acknowledged = counts.Acknowledged,
            Recorded = counts.Recorded,
            Unanswered = counts.Unanswered,
            UnansweredRecorded = counts.UnansweredRecorded,
            BalancesTold = balances.Count,
            BalancesAsked = asked,
            Lost = transactions.Lost,
            Doubled = transactions.Doubled,
            Wrong = transactions.Wrong,
            Holes = accounts.Holes,
            Misjudged = accounts.Misjudged,
            Unbalanced = unbalanced,
        };
    }

    private delegate void TakeEntry(in JournalEntry entry);

    private static void AddBalance(ToldBalances balances, in JournalEntry entry)
    {
        if (entry.IsBalance)
        {
            balances.Add(entry);
        }
    }

    private static void AddPayment(TransactionLedger transactions, in JournalEntry entry)
    {
        if (!entry.IsBalance)
        {
            transactions.AddAnswer(entry);
        }
    }

    // Balances are needed before the events and payments after them, so the journals are read twice: nothing in them is held.
    private void ReadJournals(
        string part, List<(string Path, long Length)> journals, TakeEntry take, CancellationToken cancellationToken)
    {
        const int Step = 1 << 13;
        var total = journals.Sum(j => j.Length);
        var before = 0L;
        foreach (var (path, length) in journals)
        {
            using var reader = new JournalReader(path, length);
            for (var entries = 1; reader.TryRead(out var entry); entries++)
            {
                take(entry);
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
