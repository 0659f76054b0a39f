using System.Globalization;
using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments.InFlight;

namespace Billing.Backends.Payments;

/// <summary>Passes commands to the lane of the database that holds their shard, in the order in which they come.
/// The commands of a shard that is in no known database wait here. Thread-safe.</summary>
internal sealed class CommandRouter(
    IReadOnlyList<PaymentLane> lanes, ShardMap map, Answering answering, TimeSpan patience, TimeProvider time)
{
    // While a shard is being moved, its commands wait for as long as this longer than needed.
    private static readonly TimeSpan AskingInterval = TimeSpan.FromMilliseconds(50);

    private readonly StoreWait _wait = new(time, patience, "");
    private readonly Lock _gate = new();
    private readonly Channel<bool> _work = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { SingleReader = true, FullMode = BoundedChannelFullMode.DropWrite });

    private readonly int[] _waitingOfShard = new int[Shard.Count];
    private List<PendingCommand> _waiting = [];

    /// <summary>Whether commands wait here for longer than callers do.</summary>
    public bool WaitsTooLong => _wait.IsTooLong;

    /// <summary>Whoever has waited since this moment has waited long enough.</summary>
    public long PatienceBegan => _wait.PatienceBegan;

    /// <summary>Names the shards for which commands have waited too long.</summary>
    public string? NotReadyReason => _wait.IsTooLong
        ? $"no database that answers, or more than one, holds the shards {string.Join(", ", WaitedFor())}"
        : null;

    /// <summary>Takes commands.</summary>
    public void Enter(List<PendingCommand> commands)
    {
        lock (_gate)
        {
            for (var next = 0; next < commands.Count;)
            {
                var (first, database) = (next, DatabaseOf(commands[next]));
                for (next++; next < commands.Count && DatabaseOf(commands[next]) == database; next++)
                {
                }
                Pass(next - first == commands.Count ? commands : commands[first..next], database);
            }
        }
    }

    /// <summary>Finds the databases of the shards for which commands wait.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (await _work.Reader.WaitToReadAsync(cancellationToken))
        {
            _work.Reader.TryRead(out _);
            _wait.Begin();
            await map.RefreshAsync();
            while (!TryPass())
            {
                await Task.Delay(AskingInterval, time, cancellationToken);
                await map.RefreshAsync();
            }
            _wait.End();
        }
    }

    // What waits comes first.
    private int DatabaseOf(PendingCommand command)
    {
        command.Holder = _waitingOfShard[command.Shard] > 0 ? (ShardMap.Nowhere, 0) : map.HolderOf(command.Shard);
        return command.Holder.Database;
    }

    private void Pass(List<PendingCommand> commands, int database)
    {
        if (database != ShardMap.Nowhere)
        {
            lanes[database].Accept(commands);
            return;
        }
        _waiting.AddRange(commands);
        commands.ForEach(command => _waitingOfShard[command.Shard]++);
        _work.Writer.TryWrite(true);
    }

    // Returns whether no commands wait any more.
    private bool TryPass()
    {
        List<PendingCommand> abandoned;
        bool isEmpty;
        lock (_gate)
        {
            var waiting = _waiting;
            _waiting = [];
            Array.Clear(_waitingOfShard);
            abandoned = waiting.FindAll(command => command.AbandonIfOver());
            Enter(waiting.FindAll(command => !command.IsDone));
            isEmpty = _waiting.Count == 0;
        }
        answering.Answer(abandoned);
        return isEmpty;
    }

    private IEnumerable<string> WaitedFor()
    {
        lock (_gate)
        {
            return
            [
                .. _waiting.Select(command => command.Shard).Distinct().Order()
                    .Select(shard => shard.ToString(CultureInfo.InvariantCulture)),
            ];
        }
    }
}
