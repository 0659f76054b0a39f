using Billing.Backends.Domain;
using Billing.Backends.EventStore;

namespace Billing.Simulation.Store;

/// <summary>The databases of the event store.</summary>
internal sealed class StoreServers
{
    private readonly Scheduler _scheduler;

    /// <param name="scheduler">The simulated time.</param>
    /// <param name="dice">For what the databases do.</param>
    /// <param name="settings">Their number, and the seed of the moves between them.</param>
    public StoreServers(Scheduler scheduler, Dice dice, Settings settings)
    {
        _scheduler = scheduler;
        All = [.. Enumerable.Range(0, settings.Databases).Select(place => new StoreServer(
            scheduler, dice, History, "db-" + place,
            Enumerable.Range(0, Shard.Count).Where(shard => shard % settings.Databases == place)))];
        Operator = new StoreOperator(scheduler, All, settings.Seed);
    }

    public IReadOnlyList<StoreServer> All { get; }

    public StoreHistory History { get; } = new();

    /// <summary>Moves shards between the databases.</summary>
    public StoreOperator Operator { get; }

    /// <summary>The database that a fault happens to.</summary>
    public StoreServer Of(int target) => All[target % All.Count];

    private StoreServer HolderOf(int shard) => All.MaxBy(database => StoreOperator.EpochIn(database, shard))!;

    /// <summary>Damages the disks under the events of an account.</summary>
    public void Damage(string streamId, long until)
    {
        foreach (var database in All)
        {
            database.Damaged = (streamId, until);
        }
    }

    /// <summary>Begins the run with an account that has events.</summary>
    public void Begin(string streamId, int events, IReadOnlyDictionary<string, decimal> openingLimits)
    {
        var (dice, account) = (new Random(events), Account.Opened(new OpeningLimits(openingLimits)));
        var holder = HolderOf(Shard.Of(streamId));
        var id = new byte[16];
        for (var i = 0; i < events; i++)
        {
            dice.NextBytes(id);
            var payment = new Payment(new Guid(id), 0.01m, "USD");
            var added = NewEvent.Of(streamId, payment.Decide(account, Node.TimeOf(-TimeSpan.TicksPerSecond)), account);
            holder.Statements.Append([added], [], -1, openingLimits);
            account = added.After;
        }
    }

    /// <summary>Keeps the present state of all databases.</summary>
    /// <returns>Puts them back into that state.</returns>
    public Action BackUp()
    {
        var (moment, copies) = (_scheduler.Now, All.Select(database => database.Tables.Copy()).ToList());
        return () =>
        {
            for (var place = 0; place < All.Count; place++)
            {
                All[place].Restore(copies[place]);
            }
            var open = All.SelectMany(database => database.Statements.Held().Keys).ToHashSet();
            foreach (var database in All)
            {
                database.Statements.BeginIncarnation(database.Time, open);
            }
            History.Restore(moment);
            Operator.Resume();
        };
    }

    /// <summary>What is not yet as it has to be when all moves have ended.</summary>
    public IEnumerable<string> Unrests() => Operator.Unfinished;

    /// <summary>Checks that each shard is in one database, with all that was committed of it.</summary>
    public void Check()
    {
        for (var shard = 0; shard < Shard.Count; shard++)
        {
            var holders = All.Count(
                database => database.Tables.Shards.GetValueOrDefault(shard) is { IsHeld: true, MovingTo: null });
            Require(holders == 1, $"shard {shard} is open in {holders} databases");
        }
        foreach (var stream in History.Events.GroupBy(e => e.StreamId, StringComparer.Ordinal))
        {
            Check(HolderOf(Shard.Of(stream.Key)), stream.Key, [.. stream]);
        }
        foreach (var id in History.Closed)
        {
            var holder = HolderOf(Shard.Of(id.StreamId));
            Require(holder.Tables.Find(id) is { Event: null }, $"{holder.Name} does not know that {id} is closed");
        }
        var held = All.SelectMany(database =>
            database.Tables.OpenHolds.Keys.Where(id => HolderOf(Shard.Of(id.StreamId)) == database)).ToHashSet();
        Require(held.SetEquals(History.OpenHolds.Keys), "the databases have other open holds than were committed");
    }

    private static void Check(StoreServer holder, string streamId, List<Stored> events)
    {
        Require(
            holder.Tables.Stream(streamId).Select(row => row.Event).SequenceEqual(events),
            $"{holder.Name} does not have the events of {streamId} as they were committed");
        var version = holder.Tables.Streams[streamId];
        Require(
            version == events.Count,
            $"the version of {streamId} in {holder.Name} is {version}, of its last event {events.Count}");
    }

    private static void Require(bool holds, string what)
    {
        if (!holds)
        {
            throw new SimulationException(what);
        }
    }
}
