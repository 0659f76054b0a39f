using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Billing.Simulation;

/// <summary>The points of the platform's code that the runs of this process have reached: its log messages.
/// What is rare in production has one, so a simulation that has never logged it has never tried it.</summary>
internal static class Points
{
    // What happens in the models themselves has no message.
    public const int MoveUndone = -1;
    public const int MoveCleaned = -2;
    public const int ClosedCommandMoved = -3;
    public const int HoldMoved = -4;
    public const int AnsweredLost = -5;
    public const int UnacknowledgedKept = -6;
    public const int UnacknowledgedLost = -7;
    public const int CopyDeleted = -8;

    /// <summary>The points that ten minutes of simulation must reach, by the ids of their messages.</summary>
    public static readonly IReadOnlyDictionary<int, string> Expected = new Dictionary<int, string>
    {
        [MoveUndone] = "a shard was opened again where it was, after a move of it was interrupted",
        [MoveCleaned] = "what an interrupted move had left was deleted",
        [ClosedCommandMoved] = "a closed command was moved with its shard",
        [HoldMoved] = "an open hold was moved with its shard",
        [AnsweredLost] = "a restore has lost what was answered",
        [UnacknowledgedKept] = "a failover has kept what was not acknowledged",
        [UnacknowledgedLost] = "a failover has lost what was not acknowledged",
        [CopyDeleted] = "what moves that were given up had copied was deleted",
        [105] = "a reply could not be delivered",
        [106] = "a record is sent again",
        [114] = "a consumer is paused",
        [115] = "a consumer is resumed",
        [117] = "a partition fenced by mistake is read again",
        [131] = "a record on the topic of events is skipped",
        [132] = "events were deleted before they were read",
        [134] = "offsets began again",
        [200] = "answers could not be published",
        [201] = "commands are left to the next owner",
        [210] = "a batch is tried again",
        [211] = "a batch is halved",
        [213] = "a command cannot be recorded at present",
        [220] = "receipts are read again",
        [221] = "callers are told that the event store is away",
        [222] = "receipts are read in halves",
        [223] = "a receipt cannot be read",
        [225] = "commands follow their shard to another database",
        [226] = "holds cannot be read at present",
        [230] = "accounts are read again",
        [231] = "a balance cannot be read",
        [242] = "a view has missed an event",
        [243] = "events are read again",
    };

    private static readonly ConcurrentDictionary<int, bool> Reached = new();

    /// <summary>The expected points that no run has reached.</summary>
    public static IReadOnlyList<string> Missing =>
        [
            .. Expected.Where(point => !Reached.ContainsKey(point.Key)).Select(point => point.Value)
                .Order(StringComparer.Ordinal),
        ];

    /// <summary>Notes a message.</summary>
    public static void Reach(int id) => Reached.TryAdd(id, true);
}

/// <summary>A logger that notes which messages there were, and drops them.</summary>
internal sealed class PointLog<T> : ILogger<T>
{
    public static readonly PointLog<T> Instance = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel > LogLevel.Debug;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter) => Points.Reach(eventId.Id);
}

/// <summary>Makes such loggers.</summary>
internal sealed class PointLogs : ILoggerFactory
{
    public static readonly PointLogs Instance = new();

    public ILogger CreateLogger(string categoryName) => PointLog<PointLogs>.Instance;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public void Dispose()
    {
    }
}
