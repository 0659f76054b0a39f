using Billing.Proxy.Failures;

namespace Billing.Proxy.Security;

/// <summary>Logs who was refused what, under a category of its own. Refusals of one caller for one reason are one line a minute, with their
/// number, and all lines together are bounded, so that nobody can fill the log or hide among others. No line has a token, and none has a
/// text that was not checked. Thread-safe.</summary>
internal sealed partial class SecurityLog(TimeProvider time, ILoggerFactory loggers)
{
    /// <summary>The category, for filters.</summary>
    public const string Category = "Billing.Security";

    private static readonly TimeSpan Quiet = TimeSpan.FromMinutes(1);

    // Callers and reasons share places by their hash, which no caller can foresee.
    private const int Places = 1024;

    private readonly ILogger _logger = loggers.CreateLogger(Category);
    private readonly long _start = time.GetTimestamp();
    private readonly long[] _quietUntil = new long[Places];
    private readonly int[] _unlogged = new int[Places];

    /// <summary>Notes that a caller was refused.</summary>
    /// <param name="caller">The caller, or the address of one that is not known.</param>
    /// <param name="failure">What it was answered.</param>
    /// <param name="asked">The endpoint or the account that it asked for.</param>
    public void Refused(Caller caller, Failure failure, string asked)
    {
        var place = (uint)HashCode.Combine(caller.Id, failure.Reason) % Places;
        var now = time.GetElapsedTime(_start).Ticks;
        var until = Volatile.Read(ref _quietUntil[place]);
        if (now < until || Interlocked.CompareExchange(ref _quietUntil[place], now + Quiet.Ticks, until) != until)
        {
            Interlocked.Increment(ref _unlogged[place]);
            return;
        }
        LogRefused(_logger, caller.Id, caller.Principal?.ClientId ?? "", failure.Reason, asked, Interlocked.Exchange(ref _unlogged[place], 0));
    }

    [LoggerMessage(1, LogLevel.Warning, "{Caller} (client id '{ClientId}') was refused {Asked}: {Reason}; {Unlogged} more refusals like it since the last line")]
    private static partial void LogRefused(ILogger logger, string caller, string clientId, string reason, string asked, int unlogged);
}
