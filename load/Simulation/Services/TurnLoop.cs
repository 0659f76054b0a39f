namespace Billing.Simulation.Services;

/// <summary>A thread of a process that takes one turn after another: soon after it is woken, or at the latest when its rest is over.
/// </summary>
/// <param name="scheduler">The scheduler of the run.</param>
/// <param name="dice">Makes the delay after a wake-up random.</param>
/// <param name="node">The process.</param>
/// <param name="turn">Takes a turn and returns the longest rest before the next one.</param>
internal sealed class TurnLoop(Scheduler scheduler, Dice dice, Node node, Func<TimeSpan> turn)
{
    private Due? _next;
    private long _at = long.MaxValue;
    private bool _taking;
    private bool _ended;

    /// <summary>Schedules the next turn to be taken soon.</summary>
    public void Wake() => Take(dice.UpTo(2));

    /// <summary>Whether a turn is in progress; a turn may let simulated time pass.</summary>
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
        _next = scheduler.After(wait, node, RunTurn);
    }

    private void RunTurn()
    {
        if (_taking)
        {
            // The thread is still in its previous turn, which lets simulated time pass.
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
