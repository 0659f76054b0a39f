namespace Billing.Hosting;

/// <summary>The times of a service that stops. Whoever stops it has to wait longer before it kills it: a test compares
/// these with the files in deploy/.</summary>
public static class StopTimes
{
    /// <summary>How long a stop may take after the calls and deliveries under way have ended: to close connections, to
    /// send what is left, and to leave the group.</summary>
    public static readonly TimeSpan Ending = TimeSpan.FromSeconds(10);

    /// <summary>How long the stop of a service may take that settles what is in flight and has no setting for how long
    /// that takes.</summary>
    public static readonly TimeSpan Stopping = TimeSpan.FromSeconds(30);

    /// <summary>How long a failed process may take to stop before it is killed. It waits for no call that is under
    /// way.</summary>
    public static readonly TimeSpan Failing = Ending;
}
