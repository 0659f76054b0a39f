using System.CommandLine;
using System.Globalization;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.Contracts;
using Billing.Messaging.Kafka.Events;
using Billing.Operator.Arguments;
using Confluent.Kafka;
using Spectre.Console;
using Event = Billing.Wire.V1.Event;

namespace Billing.Operator.Store;

/// <summary><c>replay</c>: the events of the topic that the event store lost by a restore.</summary>
internal static class ReplayCommand
{
    private const int CompareMax = 1000;

    public static Command Create(IAnsiConsole console)
    {
        var (postgres, kafka) = (Flags.EventStore(), KafkaFlags.Brokers());
        var since = Flags.Time(
            "--since",
            "Since when to read the topic, e.g. a minute before the moment to which the database was restored; "
                + "from its beginning by default");
        var apply = new Option<bool>("--apply")
        {
            Description =
                "Store the events that continue their accounts exactly, as they were, and publish them once more",
        };
        var command = new Command(
            "replay",
            "Compares the published events with the event store, and lists those that it has lost by a restore to an "
                + "earlier time: "
            + "those that continue their accounts exactly, and those that conflict with what was recorded since.")
        {
            since, apply, kafka, postgres,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = StoreServices.Of(
                await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)));
            using var archive = new EventArchive(await KafkaFlags.ReadAsync(parsed.GetValue(kafka)));
            return await Guarded.AskingPostgresAsync(async () =>
            {
                var lost = await services.LostEventsAsync(cancellationToken);
                await CompareAsync(console, archive, lost, parsed.GetValue(since), cancellationToken);
                var accounts = await lost.FindAsync(cancellationToken);
                Print(console, accounts);
                return parsed.GetValue(apply)
                    ? await ApplyAsync(console, archive, lost, accounts, cancellationToken)
                    : accounts.Count == 0 ? 0 : 1;
            });
        });
    }

    private static async Task CompareAsync(
        IAnsiConsole console, EventArchive archive, LostEvents lost,
        DateTimeOffset? since, CancellationToken cancellationToken)
    {
        var (read, foreign) = (0L, 0L);
        foreach (var batch in archive.Read(since).Chunk(CompareMax))
        {
            foreign += await lost.CompareAsync(batch, cancellationToken);
            read += batch.Length;
        }
        console.WriteLine(archive.CompleteSince is { } complete
            ? $"The topic has all events since {Text(complete)}; what is older was deleted from it, "
                + "and is not compared."
            : $"The topic has all events since {(since is { } from ? Text(from) : "its beginning")}.");
        Write(console, $"Compared {read:N0} published events with the event store.");
        if (foreign + archive.Unreadable > 0)
        {
            Write(
                console, $"{foreign + archive.Unreadable:N0} records are no events of this release, and are left out.");
        }
    }

    private static void Print(IAnsiConsole console, IReadOnlyList<LostAccount> accounts)
    {
        foreach (var account in accounts)
        {
            Write(
                console,
                $"{account.StreamId} is at version {account.Stored.Version}; "
                + $"{account.Next.Count:N0} lost events continue it, {account.Conflicts.Count:N0} conflict.");
            foreach (var next in account.Next)
            {
                Write(console, $"  continues: {Text(next.Recorded)}");
            }
            foreach (var (recorded, reason) in account.Conflicts)
            {
                Write(console, $"  conflicts: {Text(recorded)}");
                Write(console, $"    {reason}");
            }
        }
        Write(
            console,
            $"Not in the event store: {accounts.Sum(a => a.Next.Count):N0} events that continue their accounts, "
            + $"{accounts.Sum(a => a.Conflicts.Count):N0} that conflict.");
    }

    private static async Task<int> ApplyAsync(
        IAnsiConsole console, EventArchive archive, LostEvents lost, IReadOnlyList<LostAccount> accounts,
        CancellationToken cancellationToken)
    {
        var (applied, left) = (0, accounts.Sum(account => account.Conflicts.Count));
        foreach (var account in accounts.Where(account => account.Next.Count > 0))
        {
            if (!await lost.ApplyAsync(account, cancellationToken))
            {
                console.WriteLine($"{account.StreamId} has gone on meanwhile: nothing of it is stored.");
                left += account.Next.Count;
                continue;
            }
            applied += account.Next.Count;
            try
            {
                // Whoever has forgotten them, or has read the account before they were stored again, hears of them.
                await archive.PublishAgainAsync(account.Next.Select(next => next.Recorded), cancellationToken);
            }
            catch (KafkaException e)
            {
                throw new CommandException(
                    $"The events of {account.StreamId} are stored, and could not be published once more: "
                        + $"{e.Error.Reason}. "
                    + "Restart the balance backends, and run the command again for the other accounts.", e);
            }
        }
        Write(console, $"Stored again: {applied:N0} events. Left for a decision by hand: {left:N0}.");
        return left == 0 ? 0 : 1;
    }

    // Unwrapped, for programs.
    private static void Write(IAnsiConsole console, string line) => console.Profile.Out.Writer.WriteLine(line);

    // All that was published, on one line.
    private static string Text(Event recorded) => string.Create(CultureInfo.InvariantCulture,
        $"version {recorded.Version}, decided {Text(UnixTime.FromMicroseconds(recorded.DecidedUnixUs))}: {recorded}");

    private static string Text(DateTimeOffset time) =>
        time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss.ffffff'Z'", CultureInfo.InvariantCulture);
}
