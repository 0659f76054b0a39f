using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.LocalStack.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.IntegrationTests.Services;

/// <summary>A store of two databases with events of three days of the past, which tests copy: accounts with events of
/// every kind, of senders that are known and not, in both databases; thousands on the second day, which are more than a
/// page of an export.</summary>
public sealed class DatedStore(EventStoreFixture store) : IAsyncLifetime
{
    public const string FirstDay = "2026-01-29";
    public const string MiddleDay = "2026-01-30";
    public const string LastDay = "2026-01-31";

    private const int Accounts = 60;

    private readonly StackFolder _folder = StackFolder.Create();
    private string[] _connections = [];

    /// <summary>An account with one event on the first day and the others, of versions 2 to 8, on the last one;
    /// the last event is a refund.</summary>
    public static string TheAccount { get; } = "visa/" + StackFixture.NewAccount();

    public async ValueTask InitializeAsync()
    {
        _connections = [await store.NewDatabaseAsync(), await store.NewDatabaseAsync()];
        await using var services = EventStoreFixture.ServicesOf(_connections);
        await services.EnsureEventStoreAsync(CancellationToken.None);
        var databases = services.GetRequiredService<EventStoreDatabases>().All;
        // As moves of every other shard leave them.
        await ExecuteAsync(databases[0], "update billing.shards set is_held = false where number % 2 = 1");
        await ExecuteAsync(
            databases[1],
            "insert into billing.shards (number, epoch, is_held) select number, 2, true from generate_series(1, "
                + $"{Shard.Count - 1}, 2) number");
        foreach (var number in Enumerable.Range(0, Accounts))
        {
            var sender = number % 3 == 0 ? new Sender("=cmd", "web") : null;
            await AppendAsync(
                databases, $"{TheAccount}{number}",
                EventStoreFixture.Facts(200, number).Select(fact => fact with { By = sender }));
        }
        List<AccountEvent> facts = [.. EventStoreFixture.Facts(7)];
        facts.Add(new PaymentRefunded(Guid.NewGuid(), facts[0].TransactionId, 0.25m, "USD", facts[^1].DecidedAt)
        {
            Balance = 0,
            Charged = 1,
            Refunded = 0.25m,
            Held = 0,
        });
        var decidedAt = facts[^1].DecidedAt;
        var hold = new PaymentAuthorised(Guid.NewGuid(), 5, "USD", decidedAt.AddDays(7), decidedAt) { Balance = 0 };
        facts.Add(hold);
        facts.Add(new PaymentCaptured(Guid.NewGuid(), hold.TransactionId, 2, 0, "USD", hold.DecidedAt)
        {
            Balance = 0,
            Charged = 2,
            Refunded = 0,
            Held = 3,
        });
        facts.Add(new AuthorisationExpired(Guid.NewGuid(), hold.TransactionId, 3, "USD", hold.ExpiresAt)
        {
            Balance = 0,
            Charged = 2,
            Refunded = 0,
            Held = 0,
        });
        await AppendAsync(databases, TheAccount, facts);
        foreach (var database in databases)
        {
            // Several at the same moment, as those of one transaction.
            await ExecuteAsync(database, $"""
                update billing.mt_events set timestamp = case
                    when version = 1 then '{FirstDay} 00:00:00Z'::timestamptz + (seq_id % 10) * interval '1 microsecond'
                    when stream_id = '{TheAccount}'
                        then '{LastDay} 23:59:59.999Z'::timestamptz + version * interval '1 microsecond'
                    else '{MiddleDay} 00:00:00Z'::timestamptz + (version - version % 4) * interval '7 minutes' end
                where stream_id <> 'mt_tombstone'
                """);
        }
    }

    public ValueTask DisposeAsync() => _folder.DisposeAsync();

    /// <summary>The folder with an export of all its days as CSV, to be copied.</summary>
    public async Task<string> ExportAsync()
    {
        var folder = Path.Combine(_folder.FullName, "export");
        if (!Directory.Exists(folder))
        {
            var databases = (await CopyAsync())
                .SelectMany(database => (string[])["--postgres", $"{database.Key}:{database.Value}"]);
            var (exitCode, output) = await CommandRun.ToEndAsync(
                _folder,
                ["export", "--from", FirstDay, "--to", LastDay, "--format", "csv", "--out", folder, .. databases]);
            Assert.True(exitCode == 0, output);
        }
        return folder;
    }

    /// <summary>Copies the store.</summary>
    /// <returns>The connection string of each database, by its name.</returns>
    public async Task<IReadOnlyDictionary<string, string>> CopyAsync() =>
        EventStoreFixture.Named(await store.CopyAsync(_connections));

    private static Task<Account> AppendAsync(
        IReadOnlyList<EventStoreDatabase> databases, string stream, IEnumerable<AccountEvent> facts) =>
        EventStoreFixture.AppendAsync(databases[Shard.Of(stream) % 2].Store, stream, EventStoreFixture.Opened, facts);

    private static Task<object?> ExecuteAsync(EventStoreDatabase database, string sql) =>
        database.Servers.AskAsync(sql, CancellationToken.None);
}
