namespace Billing.Chaos;

/// <summary>The start and end of each call, including its retries. Thread-safe.</summary>
public sealed class CallTimes
{
    private readonly Lock _gate = new();
    private readonly List<(long Start, long End)> _calls = [];
    private readonly List<string> _what = [];

    /// <summary>Adds a call.</summary>
    /// <param name="start">The timestamp at which it began.</param>
    /// <param name="end">The timestamp at which it was answered.</param>
    /// <param name="what">Its description, as text.</param>
    public void Add(long start, long end, string what)
    {
        lock (_gate)
        {
            _calls.Add((start, end));
            _what.Add(what);
        }
    }

    /// <summary>Returns the slowest calls, slowest first.</summary>
    public IReadOnlyList<(long Start, long End, string What)> Slowest(int count)
    {
        lock (_gate)
        {
            return
            [
                .. _calls.Zip(_what, (call, what) => (call.Start, call.End, what))
                    .OrderByDescending(c => c.End - c.Start).Take(count),
            ];
        }
    }

    /// <summary>Returns the duration of the longest call of each window. A call with its whole duration belongs to the
    /// window with which it overlaps most; a call that overlaps with none belongs to none.</summary>
    /// <param name="windows">Start and end of each window, in order of time, without overlap.</param>
    /// <returns>A duration for each window; 0 if no call belongs to it.</returns>
    public IReadOnlyList<long> LongestOf(IReadOnlyList<(long Start, long End)> windows)
    {
        var longest = new long[windows.Count];
        lock (_gate)
        {
            foreach (var call in _calls)
            {
                if (MostOf(call, windows) is >= 0 and var window)
                {
                    longest[window] = Math.Max(longest[window], call.End - call.Start);
                }
            }
        }
        return longest;
    }

    private static int MostOf((long Start, long End) call, IReadOnlyList<(long Start, long End)> windows)
    {
        var (most, found) = (-1L, -1);
        for (var i = 0; i < windows.Count; i++)
        {
            var shared = Math.Min(call.End, windows[i].End) - Math.Max(call.Start, windows[i].Start);
            if (shared >= 0 && shared > most)
            {
                (most, found) = (shared, i);
            }
        }
        return found;
    }
}
