using System.Globalization;
using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;

namespace Billing.Backends.Payments;

/// <summary>Passes commands to the lane of the database that holds their shard, in the order in which they come. While a shard is in no known
/// database, or its former lane still has commands of it, its commands wait here. Thread-safe.</summary>
internal sealed class CommandRouter(IReadOnlyList<PaymentLane> lanes, ShardMap map, TimeSpan patience, TimeProvider time)
{
    // While a shard is being moved, its commands wait for as long as this longer than needed.
    private static readonly TimeSpan AskingInterval = TimeSpan.FromMilliseconds(50);

    private readonly Place[] _places = [.. Enumerable.Range(0, Shard.Count).Select(_ => new Place())];
    private readonly StoreAccess _access = new(time, patience, "");
    private readonly Lock _gate = new();
    private readonly Channel<bool> _work = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { SingleReader = true, FullMode = BoundedChannelFullMode.DropWrite });

    /// <summary>Whether commands wait here for longer than callers do.</summary>
    public bool IsAway => _access.IsAway;

    /// <summary>Whoever has waited since this moment has waited long enough.</summary>
    public long PatienceBegan => _access.PatienceBegan;

    /// <summary>Names the shards for which commands have waited too long.</summary>
    public string? NotReadyReason => _access.IsAway
        ? $"no database that answers, or more than one, holds the shards {string.Join(", ", WaitedFor().Select(shard => shard.ToString(CultureInfo.InvariantCulture)))}"
        : null;

    /// <summary>The lane of a command; null if it waits here.</summary>
    public PaymentLane? LaneOf(PendingCommand command)
    {
        lock (_gate)
        {
            return _places[command.Shard].Lane;
        }
    }

    /// <summary>Takes commands that are not in any lane.</summary>
    public void Enter(List<PendingCommand> commands)
    {
        if (commands.Count == 0)
        {
            return;
        }
        lock (_gate)
        {
            for (var next = 0; next < commands.Count;)
            {
                var (first, lane) = (next, _places[commands[next].Shard].Lane);
                while (next < commands.Count && _places[commands[next].Shard].Lane == lane)
                {
                    next++;
                }
                Enter(lane, next - first == commands.Count ? commands : commands[first..next]);
            }
        }
    }

    private void Enter(PaymentLane? lane, List<PendingCommand> commands)
    {
        if (lane is not null)
        {
            Pass(commands, lane);
            return;
        }
        commands.ForEach(command => _places[command.Shard].Waiting.Add(command));
        _work.Writer.TryWrite(true);
    }

    private void Pass(List<PendingCommand> commands, PaymentLane lane)
    {
        commands.ForEach(command => command.ShardEpoch = _places[command.Shard].Epoch);
        lane.Accept(commands);
    }

    /// <summary>Takes a command that is to be recorded only.</summary>
    public void EnterAuthorised(PendingCommand command)
    {
        lock (_gate)
        {
            var place = _places[command.Shard];
            // Of one that was deduplicated before its shard was elsewhere, the receipt may be there by now.
            if (place.Lane is { } lane && command.ShardEpoch == place.Epoch && !place.HasReturned(command.StreamId))
            {
                lane.AcceptAuthorised(command);
                return;
            }
            command.IsAuthorised = true;
            if (place.Lane is not null)
            {
                PassReturned([command], place.Lane);
                return;
            }
            place.Waiting.Add(command);
            _work.Writer.TryWrite(true);
        }
    }

    // What is authorised after them, and before the lane has taken them, takes the same way.
    private void PassReturned(List<PendingCommand> commands, PaymentLane lane)
    {
        Pass(commands, lane);
        var taken = lane.DrainAsync();
        foreach (var command in commands.Where(command => command.IsAuthorised))
        {
            var place = _places[command.Shard];
            place.Returned.Add(command.StreamId);
            place.Taken = taken;
        }
    }

    /// <summary>Takes commands back from a lane whose database does not hold their shards.</summary>
    public void Return(PaymentLane lane, List<PendingCommand> misplaced)
    {
        lock (_gate)
        {
            foreach (var command in misplaced)
            {
                var place = _places[command.Shard];
                if (place.Lane == lane)
                {
                    (place.Lane, place.Drained) = (null, lane.DrainAsync());
                }
                command.TakeBack();
                place.Waiting.Add(command);
            }
            _work.Writer.TryWrite(true);
        }
    }

    /// <summary>Finds the databases of the shards for which commands wait.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (await _work.Reader.WaitToReadAsync(cancellationToken))
        {
            _work.Reader.TryRead(out _);
            _access.Begin();
            await map.RefreshAsync();
            while (!TryPlace())
            {
                await Task.Delay(AskingInterval, time, cancellationToken);
                await map.RefreshAsync();
            }
            _access.End();
        }
    }

    // Returns whether no commands wait any more.
    private bool TryPlace()
    {
        lock (_gate)
        {
            var placed = new Dictionary<PaymentLane, List<PendingCommand>>();
            foreach (var shard in WaitedFor())
            {
                var place = _places[shard];
                if (place.Lane is null && map.PlaceOf(shard) is (not ShardMap.Nowhere and var database, var epoch) && place.Drained.IsCompleted)
                {
                    (place.Lane, place.Epoch) = (lanes[database], epoch);
                }
                if (place.Lane is { } lane)
                {
                    placed.TryAdd(lane, []);
                    // What comes back waits behind what was authorised before, and that behind what has come since.
                    placed[lane].AddRange(place.Waiting.OrderBy(command => command.Arrival));
                    place.Waiting.Clear();
                }
            }
            foreach (var (lane, commands) in placed)
            {
                PassReturned(commands, lane);
            }
            return WaitedFor().Count == 0;
        }
    }

    private List<int> WaitedFor()
    {
        lock (_gate)
        {
            return [.. Enumerable.Range(0, Shard.Count).Where(shard => _places[shard].Waiting.Count > 0)];
        }
    }

    private sealed class Place
    {
        public PaymentLane? Lane { get; set; }

        /// <summary>The number under which the lane's database held the shard when it got it.</summary>
        public long Epoch { get; set; }

        /// <summary>Completes when the former lane has no commands of the shard any more.</summary>
        public Task Drained { get; set; } = Task.CompletedTask;

        public List<PendingCommand> Waiting { get; } = [];

        /// <summary>The accounts whose authorised commands have come back to the lane since it had last taken all of these.</summary>
        public HashSet<string> Returned { get; } = new(StringComparer.Ordinal);

        /// <summary>Completes when the lane has taken all that has come back.</summary>
        public Task Taken { get; set; } = Task.CompletedTask;

        /// <summary>Whether a command of an account that is authorised now would overtake one that has come back.</summary>
        public bool HasReturned(string streamId)
        {
            if (Taken.IsCompleted)
            {
                Returned.Clear();
            }
            return Returned.Contains(streamId);
        }
    }
}
