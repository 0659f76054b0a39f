namespace Billing.Simulation.Services;

/// <summary>A thread of a process that takes one turn after another: at a random moment soon after it is woken,
/// or at the latest when the rest is over that its last turn has returned.</summary>
internal sealed class TurnLoop(Scheduler scheduler, Dice dice, Node node, Func<TimeSpan> turn)
{
    private Due? _next;
    private long _at = long.MaxValue;
    private bool _ended;

    /// <summary>Schedules the next turn to be taken soon.</summary>
    public void Wake() => Take(dice.UpTo(2));

    /// <summary>Whether a turn is in progress; a turn may let simulated time pass.</summary>
    public bool IsTaking { get; private set; }

    /// <summary>Takes no further turns.</summary>
    public void End()
    {
        _ended = true;
        _next?.Dispose();
    }

    private void Take(TimeSpan wait)
    {
        var at = scheduler.Now + wait.Ticks;
        if (_ended || at >= _at)
        {
            return;
        }
        _next?.Dispose();
        _at = at;
        _next = scheduler.After(wait, node, RunTurn);
    }

    private void RunTurn()
    {
        _next = null;
        _at = long.MaxValue;
        if (IsTaking)
        {
            // The thread is still in its previous turn, which lets simulated time pass.
            return;
        }
        IsTaking = true;
        try
        {
            Take(turn());
        }
        catch (Exception e) when (e is not NodeCrashedException)
        {
            End();
            node.Supervisor.Fail("turns", e);
        }
        finally
        {
            IsTaking = false;
        }
    }
}
