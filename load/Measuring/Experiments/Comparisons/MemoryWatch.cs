using System.Globalization;

namespace Billing.Measuring.Experiments.Comparisons;

/// <summary>Samples the resident memory of programs every second from its creation on.</summary>
internal sealed class MemoryWatch : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly IReadOnlyList<(string Name, int ProcessId)> _programs;
    private readonly CancellationTokenSource _ended = new();
    private readonly double[] _before;
    private readonly double[] _most;
    private readonly Task _watching;

    public MemoryWatch(IReadOnlyList<(string Name, int ProcessId)> programs, TimeProvider time)
    {
        _programs = programs;
        _before = Read();
        _most = [.. _before];
        _watching = WatchAsync(time);
    }

    /// <summary>Returns the figures so far.</summary>
    public IReadOnlyList<MemoryFigures> Figures()
    {
        var now = Read();
        return [.. _programs.Select((program, i) => new MemoryFigures(program.Name, _before[i], Math.Max(_most[i], now[i]), now[i]))];
    }

    public async ValueTask DisposeAsync()
    {
        await _ended.CancelAsync();
        await _watching.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _ended.Dispose();
    }

    private async Task WatchAsync(TimeProvider time)
    {
        using var timer = new PeriodicTimer(Interval, time);
        while (await timer.WaitForNextTickAsync(_ended.Token))
        {
            var now = Read();
            for (var i = 0; i < now.Length; i++)
            {
                _most[i] = Math.Max(_most[i], now[i]);
            }
        }
    }

    private double[] Read() => [.. _programs.Select(program => ResidentMb(program.ProcessId))];

    // VmRSS in /proc/PID/status is in KiB, see proc(5).
    private static double ResidentMb(int process)
    {
        var line = File.ReadLines($"/proc/{process.ToString(CultureInfo.InvariantCulture)}/status").First(l => l.StartsWith("VmRSS:", StringComparison.Ordinal));
        return double.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) * 1024 / 1e6;
    }
}

/// <summary>Resident memory of one program.</summary>
/// <param name="Program">Its name.</param>
/// <param name="BeforeMb">Before the load, in MB (10^6 bytes).</param>
/// <param name="MostMb">The maximum, sampled every second.</param>
/// <param name="AfterMb">After the load.</param>
internal sealed record MemoryFigures(string Program, double BeforeMb, double MostMb, double AfterMb);
