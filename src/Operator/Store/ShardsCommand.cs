using System.CommandLine;
using System.Globalization;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.Operator.Arguments;
using Npgsql;
using Spectre.Console;

namespace Billing.Operator.Store;

/// <summary><c>shards</c>: which database of the event store holds which accounts, and moving them.</summary>
internal static class ShardsCommand
{
    public static Command Create(IAnsiConsole console) =>
        new(
            "shards",
            "Lists and moves the shards of the event store: the groups of accounts, each of which is in one "
                + "of its databases.")
        {
            List(console), Move(console),
        };

    private static Command List(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var command = new Command("list", "Lists the databases with their shards.") { postgres };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = StoreServices.Of(
                await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)));
            var databases = await services.ListShardsAsync(cancellationToken);
            foreach (var (name, shards) in databases)
            {
                console.WriteLine($"{name}  {shards.Count} shards: {Ranges(shards)}");
            }
            var held = databases.SelectMany(database => database.Shards).ToList();
            var homeless = Enumerable.Range(0, Shard.Count).Except(held).ToList();
            var twice = held.CountBy(shard => shard).Where(shard => shard.Value > 1).Select(shard => shard.Key)
                .Order().ToList();
            if (twice.Count > 0)
            {
                console.WriteLine(
                    $"In more than one of them: {Ranges(twice)}. One may have been restored to a time before a move, "
                    + "or been begun as a store of its own.");
            }
            if (homeless.Count > 0)
            {
                console.WriteLine(
                    $"In none of them: {Ranges(homeless)}. Their accounts wait. "
                    + "If a move was interrupted, start it again.");
            }
            return homeless.Count + twice.Count == 0 ? 0 : 1;
        });
    }

    private static Command Move(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var shards = ListFlags.Numbers("--shards", "Shards to move", [], 0, Shard.Count - 1);
        var to = new Option<string>(
            "--to")
        { Description = "The database to move them to", HelpName = "NAME", Required = true };
        shards.Required = true;
        var command = new Command(
            "move",
            "Moves shards to a database while payments go on. Every backend must know that database. "
                + "If it was interrupted, start it again.")
        {
            shards, to, postgres,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = StoreServices.Of(
                await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)));
            foreach (var shard in parsed.GetRequiredValue(shards))
            {
                try
                {
                    var (events, closed) = await console.Status().StartAsync(
                        $"Shard {shard}", status => services.MoveShardAsync(
                            shard, parsed.GetRequiredValue(to),
                            doing => status.Status = $"Shard {shard}: {doing}", cancellationToken));
                    console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                        $"Shard {shard} is in {parsed.GetValue(to)}: {events:N0} events; "
                            + $"its accounts waited for {closed.TotalMilliseconds:N0} ms."));
                }
                catch (StoreCopyException e)
                {
                    throw new CommandException($"Shard {shard}: {e.Message}", e);
                }
                catch (NpgsqlException e)
                {
                    throw new CommandException(
                        $"Shard {shard}: {e.Message.TrimEnd('.')}. Start the command again to complete the move.", e);
                }
            }
            return 0;
        });
    }

    private static string Ranges(IReadOnlyList<int> shards)
    {
        var ranges = new List<string>();
        for (var first = 0; first < shards.Count;)
        {
            var last = first;
            while (last + 1 < shards.Count && shards[last + 1] == shards[last] + 1)
            {
                last++;
            }
            ranges.Add(first == last ? $"{shards[first]}" : $"{shards[first]}-{shards[last]}");
            first = last + 1;
        }
        return string.Join(", ", ranges);
    }
}
