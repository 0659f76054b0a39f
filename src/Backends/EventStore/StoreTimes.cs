using Billing.Hosting;

namespace Billing.Backends.EventStore;

/// <summary>The times of sessions with PostgreSQL, and of what follows from a session, a server or a backend that is
/// lost. They depend on one another: <see cref="Rules"/> says how.</summary>
public static class StoreTimes
{
    /// <summary>How long a session waits for a lock. Whoever waits longer tries again, so that the log says so, and so
    /// that a change of a table, behind which appends queue, gives way to them.</summary>
    public static readonly TimeSpan Lock = TimeSpan.FromSeconds(4);

    /// <summary>How long the connection of a session may be silent until the server asks the client's host whether it
    /// is there.</summary>
    public static readonly TimeSpan KeepAliveIdle = TimeSpan.FromSeconds(4);

    /// <summary>The time between two such questions.</summary>
    public static readonly TimeSpan KeepAliveInterval = TimeSpan.FromSeconds(2);

    /// <summary>After how many of them that are not answered the server ends the session.</summary>
    public const int KeepAliveCount = 3;

    /// <summary>How long a session whose client is lost keeps its locks, for which a retried batch and the next owner
    /// of a partition wait: far above any pause between two statements.</summary>
    public static readonly TimeSpan LostClient = KeepAliveIdle + (KeepAliveInterval * KeepAliveCount);

    /// <summary>How long one of several servers may take to accept a connection or to say whether it is the
    /// primary.</summary>
    public static readonly TimeSpan Connect = TimeSpan.FromSeconds(3);

    /// <summary>How long the primary is looked for. A standby takes some ten seconds to become it; whoever waits for it
    /// tries again afterwards, and looks again.</summary>
    public static readonly TimeSpan PrimaryLook = TimeSpan.FromSeconds(10);

    /// <summary>What takes so long may wait for a server that hangs: the others are asked whether one of them is the
    /// primary now.</summary>
    public static readonly TimeSpan Hanging = TimeSpan.FromSeconds(5);

    /// <summary>How long a hold that is due is left to the backend that has taken it.</summary>
    public static readonly TimeSpan HoldTaken = TimeSpan.FromSeconds(10);

    /// <summary>How long a backend that cannot send the holds that it has taken leaves them to the others: it may be
    /// cut off from the brokers alone.</summary>
    public static readonly TimeSpan HoldNotSent = HoldTaken * 3;

    /// <summary>By how much the times of two events may be in the wrong order: far more than the clocks of two backends
    /// ever differ.</summary>
    public static readonly TimeSpan EventTimes = TimeSpan.FromMinutes(1);

    /// <summary>What these times must keep to.</summary>
    public static IReadOnlyList<Rule> Rules { get; } = Declared();

    private static Rule[] Declared()
    {
        var unavailable = Quantity.Of(
            $"the default of {BackendOptions.Section}:{nameof(BackendOptions.StoreUnavailableMax)}",
            new BackendOptions().StoreUnavailableMax);
        return
        [
            Rule.Less(
                Quantity.Of("the wait for a lock", Lock), Quantity.Of("the session of a lost client", LostClient),
                "who waits for its locks says so"),
            Rule.Less(
                Quantity.Of("the wait for a lock", Lock), Quantity.Of("the time of a hanging server", Hanging),
                "a locked row is no hanging server"),
            Rule.Less(
                Quantity.Of("an attempt to connect", Connect), Quantity.Of("a look for the primary", PrimaryLook),
                "a silent server is passed over in time"),
            Rule.Less(
                Quantity.Of("the session of a lost client", LostClient), unavailable,
                "a batch that waits for it is stored in time"),
            Rule.Less(
                Quantity.Of("a look for the primary", PrimaryLook), unavailable,
                "a standby gets time to take over"),
            Rule.Less(
                Quantity.Of("twice the tolerance of clocks", ClockVote.Tolerance * 2),
                Quantity.Of("the disorder of events", EventTimes),
                "two backends may both be off"),
        ];
    }
}
