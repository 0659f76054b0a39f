using System.Text.Json;
using Npgsql;

namespace Billing.Auditing.Chains;

/// <summary>Recomputes the hashes that chain the events of each account, and names the first event of an account
/// that was altered, removed or put in behind the platform's back. It reads the accounts one after the other,
/// and so keeps none.</summary>
/// <param name="databases">The connection strings of all databases of the event store.</param>
/// <param name="schema">Its schema.</param>
public sealed class ChainVerifier(IReadOnlyCollection<string> databases, string schema = "billing")
{
    /// <summary>Receives the progress.</summary>
    public IProgress<AuditProgress>? Progress { get; set; }

    /// <summary>Verifies the store.</summary>
    /// <param name="heads">How the accounts ended when they were verified before; null if that is not kept.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="AuditException">A database has no event store, or a shard is in none of them
    /// or is being moved.</exception>
    /// <exception cref="NpgsqlException">The database cannot be used.</exception>
    public async Task<ChainResult> RunAsync(AccountHeads? heads, CancellationToken cancellationToken)
    {
        await using var store = await StoreScans.OpenAsync(databases, schema, Progress, cancellationToken);
        var (broken, accounts, events) = (new Findings(), 0L, 0L);
        Account? account = null;
        await foreach (var row in store.ReadInOrderAsync(cancellationToken))
        {
            if (account?.Stream != row.Stream)
            {
                account?.End(broken, heads);
                account = new Account(row.Stream, row.StreamVersion, heads?.Take(row.Stream) ?? default);
                accounts++;
            }
            if (row.Type is not null)
            {
                events++;
                account.Pass(row, broken);
            }
        }
        account?.End(broken, heads);
        foreach (var (lost, version) in heads?.Left() ?? [])
        {
            broken.Add($"{lost}: the account is missing; it had {version} events when it was verified before");
        }
        return new ChainResult(accounts, events, broken);
    }

    // What is wrong after the first finding follows from it.
    private sealed class Account(string stream, long streamVersion, (long Version, string Hash) before)
    {
        private long _last;
        private string? _head;
        private bool _isBroken;

        public string Stream => stream;

        public void Pass(StoredRow row, Findings broken)
        {
            using var content = JsonDocument.Parse(row.Json);
            var stated = StoredHash.StatedBy(content.RootElement);
            if (!_isBroken && Fault(row, content.RootElement, stated) is { } fault)
            {
                broken.Add(fault);
                _isBroken = true;
            }
            (_last, _head) = (row.Version, stated);
        }

        public void End(Findings broken, AccountHeads? heads)
        {
            if (_isBroken)
            {
                return;
            }
            var expected = Math.Max(streamVersion, before.Version);
            if (_last < expected)
            {
                broken.Add($"{stream}: the events from version {_last + 1} to {expected} are missing");
            }
            else if (_last > streamVersion)
            {
                broken.Add($"{stream} version {streamVersion + 1}: put in: the account's stream ends before it");
            }
            if (_head is not null)
            {
                heads?.Add(stream, _last, _head);
            }
        }

        private string? Fault(StoredRow row, JsonElement content, string? stated)
        {
            var version = row.Version;
            if (version != _last + 1)
            {
                return $"{stream} version {_last + 1}: missing; version {version} follows version {_last}";
            }
            if (stated is null)
            {
                return $"{stream} version {version}: put in or altered: it has no hash";
            }
            if (stated != StoredHash.Of(_head ?? "", stream, version, row.Type!, content))
            {
                return $"{stream} version {version}: altered, or the event before it was with its hash: "
                    + "the hash is not that of the two";
            }
            if (version == before.Version && stated != before.Hash)
            {
                return $"{stream} version {version} or an earlier one: altered, and the hashes since then computed "
                    + $"anew: that of version {version} was another when it was verified before";
            }
            return null;
        }
    }
}

/// <summary>What a verification has found.</summary>
/// <param name="Accounts">Number of accounts.</param>
/// <param name="Events">Number of events.</param>
/// <param name="Broken">The first fault of each account in which there is one.</param>
public sealed record ChainResult(long Accounts, long Events, Findings Broken);
