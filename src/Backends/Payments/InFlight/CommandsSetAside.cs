using Billing.Backends.Telemetry;
using Billing.Messaging;

namespace Billing.Backends.Payments.InFlight;

/// <summary>The commands that the event store cannot record at present although it records others, such as those of an
/// account under whose events a page of the disk is damaged. They are neither answered nor settled, and are tried again
/// one account after another; the later commands of such an account wait behind them. Thread-safe.</summary>
internal sealed class CommandsSetAside
{
    private readonly Dictionary<string, List<PendingCommand>> _commands = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _refusals = new(StringComparer.Ordinal);
    private readonly Queue<string> _order = [];
    private readonly Lock _gate = new();

    public bool IsEmpty => Count == 0;

    /// <summary>Number of accounts.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _order.Count;
            }
        }
    }

    /// <summary>Why the tables refuse the commands of an account; null if there is no such account.</summary>
    public string? Refusal
    {
        get
        {
            lock (_gate)
            {
                return _refusals.Values.FirstOrDefault();
            }
        }
    }

    /// <summary>Adds commands.</summary>
    /// <param name="commands">The commands.</param>
    /// <param name="refusal">Why the tables refuse them; null if something else keeps them from being recorded.</param>
    public void Add(IEnumerable<PendingCommand> commands, string? refusal = null)
    {
        lock (_gate)
        {
            foreach (var command in commands)
            {
                if (refusal is not null)
                {
                    _refusals[command.StreamId] = refusal;
                }
                if (!_commands.TryGetValue(command.StreamId, out var waiting))
                {
                    _commands.Add(command.StreamId, waiting = []);
                    _order.Enqueue(command.StreamId);
                }
                waiting.Add(command);
                BackendMetrics.SetAside.Add(1);
            }
        }
    }

    /// <summary>Adds those commands whose accounts have commands here already.</summary>
    /// <returns>The other commands.</returns>
    public List<PendingCommand> AddLater(List<PendingCommand> commands)
    {
        if (IsEmpty)
        {
            return commands;
        }
        lock (_gate)
        {
            var later = commands.FindAll(c => _commands.ContainsKey(c.StreamId));
            Add(later);
            return later.Count == 0 ? commands : commands.FindAll(c => !_commands.ContainsKey(c.StreamId));
        }
    }

    /// <summary>Takes the commands of the account that has waited longest since its last try;
    /// none if no account waits.</summary>
    public List<PendingCommand> Take()
    {
        lock (_gate)
        {
            if (!_order.TryDequeue(out var streamId))
            {
                return [];
            }
            _commands.Remove(streamId, out var commands);
            _refusals.Remove(streamId);
            BackendMetrics.SetAside.Add(-commands!.Count);
            return commands;
        }
    }

    /// <summary>Takes the deliveries that have waited since a moment or longer, and whose callers have not
    /// been answered yet.</summary>
    public List<Delivery> AnswerWaiting(long since)
    {
        lock (_gate)
        {
            return
            [
                .. _commands.Values.SelectMany(commands => commands)
                    .SelectMany(command => command.AnswerWaiting(since)),
            ];
        }
    }
}
