using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Messaging;
using Billing.Messaging.Requests;

namespace Billing.Backends.Payments.InFlight;

/// <summary>The commands this backend works on. Copies of a request that arrive meanwhile join it instead of racing it.
/// Different requests under one transaction id are a queue: only its first is worked on. If that is recorded, all of
/// them have their answer; if it is not, the next one has its turn. What comes again under another assignment of its
/// partition is another command: the former one is abandoned. Thread-safe.</summary>
internal sealed class CommandsInFlight
{
    // The first of each queue.
    private readonly Dictionary<(PartitionAssignment, CommandId), PendingCommand> _commands = [];
    private readonly Lock _gate = new();

    /// <returns>The commands whose turn it is.</returns>
    public List<PendingCommand> Enter(IReadOnlyList<Delivery> deliveries, long now)
    {
        var fresh = new List<PendingCommand>(deliveries.Count);
        lock (_gate)
        {
            foreach (var delivery in deliveries)
            {
                var command = new PendingCommand(delivery, CommandRoute.Of(delivery.Command).StreamId, now);
                if (_commands.TryAdd(KeyOf(command), command))
                {
                    fresh.Add(command);
                }
                else if (_commands[KeyOf(command)].Queue(command))
                {
                    BackendMetrics.Joined();
                }
            }
        }
        return fresh;
    }

    /// <summary>Removes commands that have their result: a repeated request for one of them finds its
    /// receipt from now on.</summary>
    public Left Leave(IEnumerable<PendingCommand> commands, long nowUnixUs)
    {
        var left = default(Left);
        lock (_gate)
        {
            foreach (var command in commands)
            {
                if (command.HasEndedAll)
                {
                    _commands.Remove(KeyOf(command));
                    for (var next = command.Behind; next is not null; next = next.Behind)
                    {
                        next.EndLike(command);
                        (left.Answered ??= []).Add(next);
                    }
                }
                else if (command.TakeLateCopies(nowUnixUs) is { } open)
                {
                    open.PutBefore(command.Behind);
                    _commands[KeyOf(command)] = open;
                    (left.LateCopies ??= []).Add(open);
                }
                else if (command.Behind is { } next)
                {
                    next.Holder = command.Holder;
                    _commands[KeyOf(command)] = next;
                    (left.Next ??= []).Add(next);
                }
                else
                {
                    _commands.Remove(KeyOf(command));
                }
            }
        }
        return left;
    }

    private static (PartitionAssignment, CommandId) KeyOf(PendingCommand command) => (command.Assignment, command.Id);

    /// <summary>Takes the deliveries of some of the commands that have waited since a moment or longer, and whose
    /// callers have not been answered yet.</summary>
    public List<Delivery> AnswerWaiting(long since, Func<PendingCommand, bool> isOf)
    {
        lock (_gate)
        {
            return [.. _commands.Values.Where(isOf).SelectMany(command => command.AnswerWaiting(since))];
        }
    }
}

/// <summary>What the ends of commands lead to; mostly nothing.</summary>
internal record struct Left
{
    /// <summary>The commands that waited behind them, which have their result, too.</summary>
    public List<PendingCommand>? Answered { get; set; }

    /// <summary>The commands for copies that the ends do not answer
    /// (<see cref="PendingCommand.TakeLateCopies"/>).</summary>
    public List<PendingCommand>? LateCopies { get; set; }

    /// <summary>The commands whose turn it is now.</summary>
    public List<PendingCommand>? Next { get; set; }
}
