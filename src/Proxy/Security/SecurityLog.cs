using System.Net;
using Billing.Hosting;
using Billing.Proxy.Failures;

namespace Billing.Proxy.Security;

/// <summary>Logs who was refused what, under a category of its own. Refusals of one caller for one reason are one line
/// a minute, with their number. Within a minute at most <see cref="LinesPerMinute"/> callers and reasons have one, so
/// that nobody can fill the log; the next line is followed by the number of refusals that had none. No line has a
/// token, and none has a text that was not checked. Thread-safe.</summary>
internal sealed partial class SecurityLog(TimeProvider time, ILoggerFactory loggers)
{
    /// <summary>The category, for filters.</summary>
    public const string Category = "Billing.Security";

    /// <summary>How many callers and reasons may have a line within a minute.</summary>
    public const int LinesPerMinute = 1024;

    private static readonly TimeSpan Quiet = TimeSpan.FromMinutes(1);

    // How often a full log looks for lines whose minute is over.
    private static readonly TimeSpan LookEvery = TimeSpan.FromSeconds(1);

    private readonly ILogger _logger = loggers.CreateLogger(Category);
    private readonly Dictionary<(string Caller, string Reason), Line> _lines = [];
    private long? _lookedAt;
    private long _unlisted;

    /// <summary>Notes that a caller was refused.</summary>
    /// <param name="caller">The caller, or the address of one that is not known.</param>
    /// <param name="failure">What it was answered.</param>
    /// <param name="asked">The endpoint or the account that it asked for.</param>
    public void Refused(Caller caller, Failure failure, string asked) =>
        Refused(caller.Id, caller.Principal?.ClientId ?? "", failure.Reason, asked);

    /// <summary>Notes that a connection was refused.</summary>
    /// <param name="subject">Whose certificate it has.</param>
    /// <param name="reason">Why.</param>
    /// <param name="from">Where it comes from; null if that is not known.</param>
    public void RefusedConnection(string subject, string reason, EndPoint? from) =>
        Refused(subject, "", reason, $"a connection from {from}");

    /// <summary>Notes at the start that a setting lets everybody do everything.</summary>
    /// <param name="what">Which address is open, and what it lacks.</param>
    public void IsOpen(string what) => LogOpen(_logger, ServiceAddresses.InsecureSetting, what);

    private void Refused(string caller, string clientId, string reason, string asked)
    {
        long unlogged, unlisted;
        lock (_lines)
        {
            var key = (caller, reason);
            if (_lines.TryGetValue(key, out var line) && time.GetElapsedTime(line.At) < Quiet)
            {
                line.Unlogged++;
                return;
            }
            if (line is null && !HasPlace())
            {
                _unlisted++;
                return;
            }
            (unlogged, unlisted) = (line?.Unlogged ?? 0, _unlisted);
            _unlisted = 0;
            _lines[key] = new Line(time.GetTimestamp());
        }
        LogRefused(_logger, caller, clientId, reason, asked, unlogged);
        if (unlisted > 0)
        {
            LogUnlisted(_logger, unlisted, LinesPerMinute);
        }
    }

    private bool HasPlace()
    {
        if (_lines.Count < LinesPerMinute)
        {
            return true;
        }
        if (_lookedAt is { } at && time.GetElapsedTime(at) < LookEvery)
        {
            return false;
        }
        _lookedAt = time.GetTimestamp();
        foreach (var (key, line) in _lines)
        {
            if (time.GetElapsedTime(line.At) >= Quiet)
            {
                _unlisted += line.Unlogged;
                _lines.Remove(key);
            }
        }
        return _lines.Count < LinesPerMinute;
    }

    [LoggerMessage(
        1, LogLevel.Warning,
        "{Caller} (client id '{ClientId}') was refused {Asked}: {Reason}; "
            + "{Unlogged} more refusals like it since the last line")]
    private static partial void LogRefused(
        ILogger logger, string caller, string clientId, string reason, string asked, long unlogged);

    [LoggerMessage(2, LogLevel.Warning, "{Unlisted} more refusals have no line, since a minute has at most {Lines}")]
    private static partial void LogUnlisted(ILogger logger, long unlisted, int lines);

    [LoggerMessage(3, LogLevel.Warning, "INSECURE, as {Setting} allows: {What}. Whoever reaches it may do everything")]
    private static partial void LogOpen(ILogger logger, string setting, string what);

    private sealed class Line(long at)
    {
        public long At { get; } = at;

        public long Unlogged { get; set; }
    }
}
