using System.Diagnostics.Metrics;
using System.Globalization;

namespace Billing.Hosting;

/// <summary>Ends the process if its clock stays away from the machine's wall clock, as after a pause of a virtual machine, whose
/// monotonic clock does not count it. <see cref="SteadyTime"/> would need half an hour to catch up with a second, and commands of other
/// machines would expire too early or too late all that time. A process that starts again reads the wall clock afresh.</summary>
public sealed class ClockWatch(TimeProvider time, Supervisor supervisor) : Worker(supervisor)
{
    /// <summary>The difference that is tolerated for any time: <see cref="SteadyTime"/> catches up with it in about an hour.
    /// </summary>
    public static readonly TimeSpan DifferenceMax = TimeSpan.FromSeconds(2);

    /// <summary>How long a greater difference is tolerated: a wall clock that was set by mistake is mostly set back soon.</summary>
    public static readonly TimeSpan DurationMax = TimeSpan.FromMinutes(1);

    /// <summary>The meter of <c>billing.clock.difference</c>.</summary>
    public const string MeterName = "Billing.Hosting";

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private TimeSpan Difference => time is SteadyTime steady ? steady.Behind : TimeSpan.Zero;

    /// <summary>Compares the clocks once a second.</summary>
    /// <exception cref="InvalidOperationException">They have differed for too long.</exception>
    public override async Task RunAsync(CancellationToken stopping)
    {
        using var meter = new Meter(MeterName);
        meter.CreateObservableGauge(
            "billing.clock.difference", () => Difference.TotalSeconds, "s",
            "By how much the machine's wall clock is ahead of the process's clock.");
        using var timer = new PeriodicTimer(Interval, time);
        long? since = null;
        while (await timer.WaitForNextTickAsync(stopping))
        {
            if (Difference.Duration() <= DifferenceMax)
            {
                since = null;
            }
            else if (time.GetElapsedTime(since ??= time.GetTimestamp()) >= DurationMax)
            {
                throw new InvalidOperationException(string.Create(CultureInfo.InvariantCulture,
                    $"The machine's wall clock has been {Difference.TotalSeconds:+0.0;-0.0} s away from the process's clock for {DurationMax.TotalSeconds:0} s."));
            }
        }
    }
}
