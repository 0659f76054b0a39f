using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Messaging;
using Billing.Messaging.Requests;

namespace Billing.Backends.Payments;

/// <summary>The commands this backend works on, so that copies of a request that arrive meanwhile join the first instead of
/// racing it.</summary>
internal sealed class CommandsInFlight
{
    private readonly Dictionary<CommandId, PendingCommand> _commands = [];
    private readonly Lock _gate = new();
    private long _arrivals;

    /// <returns>The commands that were not in flight before, and the questions about payments that are not in flight.</returns>
    public List<PendingCommand> Enter(IReadOnlyList<Delivery> deliveries, long now)
    {
        var fresh = new List<PendingCommand>(deliveries.Count);
        lock (_gate)
        {
            foreach (var delivery in deliveries)
            {
                var streamId = CommandRoute.Of(delivery.Command).StreamId;
                var id = new CommandId(Guid.Parse(delivery.Command.TransactionId), streamId);
                if (_commands.TryGetValue(id, out var first))
                {
                    first.Join(delivery, now);
                    BackendMetrics.Joined();
                    continue;
                }
                var command = new PendingCommand(delivery, streamId, ++_arrivals, now);
                fresh.Add(command);
                // A payment that arrives after a question about it must not join the question, which is never decided.
                if (!command.IsStatusQuery)
                {
                    _commands.Add(id, command);
                }
            }
        }
        return fresh;
    }

    /// <summary>Removes commands: a repeated request for one of them finds its receipt from now on.</summary>
    /// <returns>New commands for what the ends of these commands leave open (<see cref="PendingCommand.TakeOpen"/>); those that are
    /// not questions are in flight.</returns>
    public List<PendingCommand> Leave(IEnumerable<PendingCommand> commands, long nowUnixUs)
    {
        var open = new List<PendingCommand>();
        lock (_gate)
        {
            foreach (var command in commands.Where(c => !c.IsStatusQuery))
            {
                var id = command.Id;
                var left = command.TakeOpen(nowUnixUs);
                open.AddRange(left);
                if (left is [{ IsStatusQuery: false } copy])
                {
                    _commands[id] = copy;
                }
                else
                {
                    _commands.Remove(id);
                }
            }
        }
        return open;
    }

    /// <summary>Takes the deliveries of some of the commands that have waited since a moment or longer, and whose callers have not been
    /// answered yet.</summary>
    public List<Delivery> AnswerWaiting(long since, Func<PendingCommand, bool> isOf)
    {
        lock (_gate)
        {
            return [.. _commands.Values.Where(isOf).SelectMany(command => command.AnswerWaiting(since))];
        }
    }
}
