using System.Diagnostics.Metrics;
using System.Globalization;
using Microsoft.Extensions.Logging;

namespace Billing.Hosting;

/// <summary>Sets the process's clock, or ends the process, if its clock stays away from the time that most machines
/// agree on, as after a pause of a virtual machine, whose monotonic clock does not count it. <see cref="SteadyTime"/>
/// would need half an hour to catch up with a second, and commands of other machines would expire too early or too late
/// all that time. Time must not go back while the process works with it, but a process that starts again sets its clock
/// at once. A wall clock that is wrong for good is outvoted: it is named, and ends nothing. While it cannot be told
/// which of two clocks is wrong, the service is not ready.</summary>
public sealed partial class ClockWatch(TimeProvider time, Supervisor supervisor, ILogger<ClockWatch> logger)
    : Worker(supervisor), IReadyPart
{
    /// <summary>The difference that is tolerated for any time:
    /// <see cref="SteadyTime"/> catches up with it in about an hour.</summary>
    public static readonly TimeSpan DifferenceMax = TimeSpan.FromSeconds(2);

    /// <summary>How long a greater difference is tolerated: a wall clock that was set by mistake is
    /// mostly set back soon.</summary>
    public static readonly TimeSpan DurationMax = TimeSpan.FromMinutes(1);

    /// <summary>The meter of <c>billing.clock.difference</c>.</summary>
    public const string MeterName = "Billing.Hosting";

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly SteadyTime? _steady = time as SteadyTime;
    private readonly HashSet<string> _wrong = [];

    private static string Machine => "machine " + Environment.MachineName;

    private TimeSpan Difference => _steady?.Behind ?? TimeSpan.Zero;

    private TimeSpan WallAhead => time.WallClock().GetUtcNow() - time.GetUtcNow();

    /// <inheritdoc/>
    public string? NotReadyReason =>
        _steady is null or { IsCertain: true } ? null : string.Create(CultureInfo.InvariantCulture,
            $"the clocks of {Machine} and of {string.Join(", ", _steady.Others.Select(Ahead))} do not agree, "
                + $"and too few others tell which is wrong");

    /// <summary>Compares the clocks once a second.</summary>
    /// <exception cref="InvalidOperationException">They have differed for too long.</exception>
    public override async Task RunAsync(CancellationToken stopping)
    {
        using var meter = new Meter(MeterName);
        meter.CreateObservableGauge(
            "billing.clock.difference", () => WallAhead.TotalSeconds, "s",
            "By how much the machine's wall clock is ahead of the process's clock.");
        meter.CreateObservableGauge(
            "billing.clock.other.difference", OthersAhead, "s",
            "By how much another machine's clock is ahead of the time that most agree on.");
        using var timer = new PeriodicTimer(Interval, time);
        long? since = null;
        while (await timer.WaitForNextTickAsync(stopping))
        {
            NameWrongClocks();
            if (Difference.Duration() <= DifferenceMax)
            {
                since = null;
            }
            else if (time.GetElapsedTime(since ??= time.GetTimestamp()) >= DurationMax)
            {
                if (_steady!.IsDecided && Difference > TimeSpan.Zero)
                {
                    _steady.Set();
                    continue;
                }
                throw new InvalidOperationException(string.Create(CultureInfo.InvariantCulture,
                    $"{(_steady.IsDecided ? "The time that most machines agree on" : "The machine's wall clock")} has "
                        + $"been {Difference.TotalSeconds:+0.0;-0.0} s away from the process's clock for "
                        + $"{DurationMax.TotalSeconds:0} s."));
            }
        }
    }

    private static string Ahead((string Clock, TimeSpan By) other) =>
        string.Create(CultureInfo.InvariantCulture, $"{other.Clock} ({other.By.TotalSeconds:+0;-0} s)");

    private IEnumerable<Measurement<double>> OthersAhead() => (_steady?.Others ?? []).Select(
        other => new Measurement<double>(
            other.Ahead.TotalSeconds, new KeyValuePair<string, object?>("billing.clock", other.Clock)));

    private void NameWrongClocks()
    {
        if (_steady is null)
        {
            return;
        }
        var agreed = _steady.Agreed.GetUtcNow();
        foreach (var (clock, ahead) in _steady.Others.Append((Machine, _steady.Wall.GetUtcNow() - agreed)))
        {
            if (ahead.Duration() <= ClockVote.Tolerance)
            {
                _wrong.Remove(clock);
            }
            else if (_wrong.Add(clock))
            {
                IsWrong(clock, agreed + ahead, agreed);
            }
        }
    }

    [LoggerMessage(
        2, LogLevel.Warning,
        "The clock of {Clock} is wrong: it shows {Shown:u}, and most others {Agreed:u}, which this service goes by")]
    private partial void IsWrong(string clock, DateTimeOffset shown, DateTimeOffset agreed);
}
