using System.CommandLine;
using System.Globalization;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Contracts;
using Billing.Driver;
using Billing.LocalStack;
using Billing.Operator.Arguments;
using Billing.Operator.Store;
using Npgsql;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary>Stores payments of the past, as years of use would have left them, so that what depends on the history can
/// be measured: with the appends of a payment backend, but without waiting for the disk, on all processors.</summary>
internal static class BackfillCommand
{
    private const string Currency = "USD";
    private const int BatchMax = 2500;

    // So small that no account reaches its limit.
    private const decimal Amount = 0.01m;

    public static Command Create(IAnsiConsole console)
    {
        var events = Flags.Number("--events", "Payments to store", 1_000_000, 1, 2_000_000_000);
        var accounts = Flags.Number(
            "--accounts",
            "Accounts to store them for, evenly, of all payment types: those that the load of the measurements uses",
            100_000, 1, 100_000_000);
        var postgres = Flags.EventStore();
        var command = new Command(
            "backfill",
            "Fills a store without events with payments of the past, as years of use would have, to measure what "
                + "depends on the history.")
        {
            events, accounts, postgres,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var databases = (await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)))
                .ToDictionary(database => database.Key, database => Hasty(database.Value));
            await RequireNoEventsAsync(databases, cancellationToken);
            await using var services = StoreServices.Of(databases);
            await services.EnsureEventStoreAsync(cancellationToken);
            var start = TimeProvider.System.GetTimestamp();
            var (count, over) = (parsed.GetValue(events), parsed.GetValue(accounts));
            await console.Progress().StartAsync(async progress =>
            {
                var bar = progress.AddTask("Payments", maxValue: count);
                await StoreAsync(services, count, over, bar.Increment, cancellationToken);
            });
            foreach (var connection in databases.Values)
            {
                await using var database = NpgsqlDataSource.Create(connection);
                await using var vacuum = database.CreateCommand("vacuum (analyze)");
                vacuum.CommandTimeout = 0;
                await vacuum.ExecuteNonQueryAsync(cancellationToken);
            }
            var seconds = TimeProvider.System.GetElapsedTime(start).TotalSeconds;
            console.WriteLine(
                $"{count:N0} payments of {Math.Min(count, over):N0} accounts in {seconds:0} s, "
                + $"{count / seconds:N0} a second.");
            return 0;
        });
    }

    // What was made up cannot be told from what was paid.
    private static async Task RequireNoEventsAsync(
        IReadOnlyDictionary<string, string> databases, CancellationToken cancellationToken)
    {
        foreach (var (name, connection) in databases)
        {
            await using var database = NpgsqlDataSource.Create(connection);
            await using var events = database.CreateCommand("select to_regclass('billing.mt_events') is not null");
            if (await events.ExecuteScalarAsync(cancellationToken) is not true)
            {
                continue;
            }
            events.CommandText = "select exists (select from billing.mt_events)";
            if (await events.ExecuteScalarAsync(cancellationToken) is true)
            {
                throw new CommandException(
                    $"--postgres: the database {name} has events: backfill makes payments up, for an "
                    + "empty store only.");
            }
        }
    }

    private static string Hasty(string connectionString)
    {
        var connection = new NpgsqlConnectionStringBuilder(connectionString);
        connection.Options = $"-c synchronous_commit=off {connection.Options}".TrimEnd();
        return connection.ConnectionString;
    }

    // Every account gets its next payment before any gets the one after it: as in years of use, an account's
    // events lie far apart.
    private static async Task StoreAsync(
        ServiceProvider services, int events, int accounts, Action<double> stored, CancellationToken cancellationToken)
    {
        // The hash of each account's last event: about 120 bytes.
        var heads = new string?[Math.Min(events, accounts)];
        for (var first = 0L; first < events; first += accounts)
        {
            var (before, round) = (first / accounts, (int)Math.Min(accounts, events - first));
            await Parallel.ForEachAsync(
                Enumerable.Range(0, round).Chunk(BatchMax), cancellationToken,
                async (chunk, token) =>
                {
                    foreach (var batch in chunk.Select(account => Payment(account, before, ref heads[account]))
                        .GroupBy(added => services.DatabaseOf(added.Recorded.StreamId)))
                    {
                        await batch.Key.AppendAsync([.. batch], [], token);
                    }
                    stored(chunk.Length);
                });
        }
    }

    private static NewEvent Payment(int account, long before, ref string? head)
    {
        var (number, type) = Math.DivRem(account, PaymentTypes.All.Count);
        var streamId = StreamId.For(
            PaymentTypes.All[type], RandomRequests.DefaultPrefix + number.ToString(CultureInfo.InvariantCulture));
        var limit = BillingStack.OpeningLimits[Currency];
        var known = new Account(before, before * Amount, limit, Currency) { Head = head };
        var fact = new Payment(Guid.CreateVersion7(), Amount, Currency).Decide(known, TimeProvider.System.GetUtcNow());
        var added = NewEvent.Of(streamId, fact, known);
        head = added.After.Head;
        return added;
    }
}
