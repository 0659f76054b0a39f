namespace Billing.Simulation.Callers;

/// <summary>Runs code whose awaits leave the context of their caller. Without a context they continue at once,
/// on the simulation's thread; with one they would continue on the thread pool.</summary>
internal static class ContextFree
{
    /// <summary>Runs work without a context.</summary>
    public static T Run<T>(Func<T> work)
    {
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            return work();
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(context);
        }
    }
}

/// <summary>A clock whose timers call back without a context.</summary>
internal sealed class ContextFreeTime(TimeProvider time) : TimeProvider
{
    public override long TimestampFrequency => time.TimestampFrequency;

    public override DateTimeOffset GetUtcNow() => time.GetUtcNow();

    public override long GetTimestamp() => time.GetTimestamp();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        time.CreateTimer(
            of => ContextFree.Run(() =>
            {
                callback(of);
                return true;
            }), state, dueTime, period);
}
