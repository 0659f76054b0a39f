namespace Billing.Simulation.Services;

/// <summary>A thread of a process that takes one turn after another: soon after it is woken, and otherwise now and then.
/// </summary>
/// <param name="scheduler">Time.</param>
/// <param name="dice">Spreads the turns.</param>
/// <param name="node">The process.</param>
/// <param name="turn">Takes a turn and returns how long to rest at most.</param>
internal sealed class TurnLoop(Scheduler scheduler, Dice dice, Node node, Func<TimeSpan> turn)
{
    private Due? _next;
    private long _at = long.MaxValue;
    private bool _taking;
    private bool _ended;

    /// <summary>Has the next turn taken soon.</summary>
    public void Wake() => Take(dice.UpTo(2));

    /// <summary>Whether it is in the middle of a turn, which lets time pass.</summary>
    public bool IsTaking => _taking;

    /// <summary>Takes no further turns.</summary>
    public void End()
    {
        _ended = true;
        _next?.Dispose();
    }

    private void Take(TimeSpan wait)
    {
        var at = scheduler.Now + wait.Ticks;
        if (_ended || (!_taking && at >= _at) || (_taking && at >= _at && _next is not null))
        {
            return;
        }
        _next?.Dispose();
        _at = at;
        _next = scheduler.After(wait, node, TakeTurn);
    }

    private void TakeTurn()
    {
        if (_taking)
        {
            // The thread is still at its turn before, which lets time pass.
            _next = null;
            _at = long.MaxValue;
            return;
        }
        _next = null;
        _at = long.MaxValue;
        _taking = true;
        try
        {
            var rest = turn();
            _taking = false;
            Take(rest);
        }
        catch (Exception e) when (e is not NodeCrashedException)
        {
            End();
            node.Supervisor.Fail("turns", e);
        }
        finally
        {
            _taking = false;
        }
    }
}
