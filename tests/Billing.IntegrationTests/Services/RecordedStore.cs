using Billing.Auditing;
using Billing.Auditing.Chains;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.LocalStack.Postgres;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>A store as release 1.0.0 makes it, recorded as data: what a later release finds when it starts.
/// Until 1.0.0 is released, whoever changes what is stored records it anew: BILLING_WRITE_STORE=1. Afterwards
/// it stays as it is.</summary>
[Collection(OverEventStore.Name)]
public sealed partial class RecordedStore(EventStoreFixture store)
{
    private const string Stream = "visa/recorded";

    private static readonly string Record =
        Path.Combine(Repository.Root, "tests/Billing.IntegrationTests/Data/store-1.0.0.sql");

    private static readonly DateTimeOffset Then = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
    private static readonly Sender By = new("shop", "web");
    private static readonly Notes Kept = new("order 7", new Dictionary<string, string> { ["shop"] = "Zürich" });

    private static readonly Account Expected =
        new(12, 45, 500, "USD") { OnHold = 60, Status = V1.AccountStatus.Frozen };

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_store_that_1_0_0_has_made_is_opened_read_and_continued()
    {
        if (Environment.GetEnvironmentVariable("BILLING_WRITE_STORE") == "1")
        {
            await RecordAsync();
        }
        var database = await store.NewDatabaseAsync();
        await ExecuteAsync(database, await File.ReadAllTextAsync(Record, Stop));
        var backend = store.NewBackend(database);

        await backend.EnsureEventStoreAsync(Stop);

        var accounts = backend.Database().Store;
        var account = (await accounts.LoadAsync([Stream], EventStoreFixture.Opened, Stop))[Stream];
        Assert.Equal(Expected, account with { Head = null, Incarnation = 0 });
        var ids = Enumerable.Range(1, 13).Select(n => new CommandId(Id(n), Stream)).ToArray();
        var receipts = await accounts.FindReceiptsAsync(ids, Fence.Of([]), Stop);
        Assert.Equal(
            Commands().Select(command => command.TransactionId),
            receipts.Values.Where(IsEvent).OrderBy(e => e.Version).Select(e => Guid.Parse(e.TransactionId)));
        Assert.False(IsEvent(receipts[ids[12]]));
        var next = new CreditLimitChange(Guid.NewGuid(), 700, "USD").Decide(account, null, Then.AddDays(1)).Event!;
        await accounts.AppendAsync([NewEvent.Of(Stream, next, account)], Fence.Of([]), Stop);
        Assert.Equal(700, (await accounts.LoadAsync([Stream], EventStoreFixture.Opened, Stop))[Stream].CreditLimit);
        var audit = await new Auditor(database) { OpeningLimits = BillingStack.OpeningLimits }.RunAsync([], Stop);
        Assert.True(audit.IsClean, string.Join('\n', [.. audit.Holes, .. audit.Unbalanced, .. audit.Misjudged]));
        var chains = await new ChainVerifier([database]).RunAsync(null, Stop);
        Assert.Empty(chains.Broken);
        Assert.Equal((1, 13), (chains.Accounts, chains.Events));
    }

    /// <summary>What a start makes of the record is what it makes of an empty database.</summary>
    [Fact]
    public async Task A_store_that_1_0_0_has_made_gets_the_tables_of_a_new_one()
    {
        var (recorded, empty) = (await store.NewDatabaseAsync(), await store.NewDatabaseAsync());
        await ExecuteAsync(recorded, await File.ReadAllTextAsync(Record, Stop));

        await store.NewBackend(recorded).EnsureEventStoreAsync(Stop);
        await store.NewBackend(empty).EnsureEventStoreAsync(Stop);

        Assert.Equal(await SchemaAsync(empty), await SchemaAsync(recorded));
    }

    // Marten gives a column the time of its creation as its default, and a comment has the digest of that.
    private static async Task<string> SchemaAsync(string connection) =>
        CreationTime().Replace(await DumpAsync(connection, "--schema-only", "--no-comments"), "''::timestamp");

    [System.Text.RegularExpressions.GeneratedRegex("'[0-9]{4}-[0-9]{2}-[0-9]{2} [^']*'::timestamp")]
    private static partial System.Text.RegularExpressions.Regex CreationTime();

    private static bool IsEvent(Wire.V1.Event receipt) => receipt.TransactionId.Length > 0;

    private static Guid Id(int number) => new(number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);

    // One command for each kind of event, and one that leaves something on hold.
    private static IEnumerable<AccountCommand> Commands()
    {
        var times = new RequestTimes(Then, Then.AddMilliseconds(1), Then.AddMilliseconds(2));
        yield return new Payment(Id(1), 20, "USD", times, "0123456789abcdef0123456789abcdef") { By = By, Notes = Kept };
        yield return new Payment(Id(2), 50_000, "USD") { By = By };
        yield return new CreditLimitChange(Id(3), 500, "USD") { By = By };
        yield return new Refund(Id(4), Id(1), 5, "USD") { Notes = Kept };
        yield return new Authorisation(Id(5), 100, "USD", TimeSpan.FromDays(7)) { Notes = Kept };
        yield return new Authorisation(Id(6), 10_000, "USD", TimeSpan.FromDays(7));
        yield return new Capture(Id(7), Id(5), 30, "USD", IsFinal: false) { Notes = Kept };
        yield return new Voiding(Id(8), Id(5));
        yield return new Authorisation(Id(9), 40, "USD", TimeSpan.FromSeconds(1));
        yield return new Expiring(Id(10), Id(9), Then.AddDays(1));
        yield return new Authorisation(Id(11), 60, "USD", TimeSpan.FromDays(31));
        yield return new AccountStatusChange(Id(12), V1.AccountStatus.Frozen) { By = By, Notes = Kept };
    }

    private async Task RecordAsync()
    {
        var database = await store.NewDatabaseAsync();
        await using var backend = store.NewBackend(database);
        await backend.EnsureEventStoreAsync(Stop);
        var account = EventStoreFixture.Opened;
        var payments = new Dictionary<Guid, PaymentState>();
        foreach (var command in Commands())
        {
            var state = command.PaymentId is { } of ? payments[of] : null;
            var fact = command.Decide(account, state, Then.AddSeconds(account.Version)).Event!;
            var added = NewEvent.Of(Stream, fact, account);
            await backend.Database().Store.AppendAsync([added], Fence.Of([]), Stop);
            account = added.After;
            if (fact is PaymentFollowUp followUp)
            {
                payments[followUp.PaymentId] = payments[followUp.PaymentId].After(followUp);
            }
            else if (PaymentState.Of(fact) is { } begun)
            {
                payments[fact.TransactionId] = begun;
            }
        }
        await backend.Database().Store.CloseAsync([(new CommandId(Id(13), Stream), By)], Fence.Of([]), Stop);
        var dump = await DumpAsync(database, "--inserts");
        Assert.All(WriteKinds.Events, kind => Assert.Contains($"'{kind.Name}'", dump, StringComparison.Ordinal));
        Directory.CreateDirectory(Path.GetDirectoryName(Record)!);
        await File.WriteAllTextAsync(Record, dump, Stop);
    }

    // Without the commands of psql, the names of versions, and empty lines.
    private static async Task<string> DumpAsync(string connection, params string[] what)
    {
        var named = new NpgsqlConnectionStringBuilder(connection);
        var dumped = await ExternalTool.RunAsync(Path.Combine(PostgresPrograms.FindFolder(), "pg_dump"),
        [
            .. what, "--no-owner", "--no-privileges", "--schema", "billing", "--dbname",
            $"host={named.Host} port={named.Port} user={named.Username} password={named.Password} "
                + $"dbname={named.Database}",
        ]);
        return string.Join('\n', dumped.Succeeded().Output.Split('\n')
            .Where(
                line => line.Length > 0 && !line.StartsWith('\\') && !line.StartsWith("--", StringComparison.Ordinal)))
            + "\n";
    }

    private static async Task ExecuteAsync(string connection, string sql)
    {
        await using var source = NpgsqlDataSource.Create(connection);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync(Stop);
    }
}
