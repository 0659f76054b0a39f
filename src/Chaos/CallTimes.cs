namespace Billing.Chaos;

/// <summary>When each call began and was answered, retries included. Safe from any thread.</summary>
public sealed class CallTimes
{
    private readonly Lock _gate = new();
    private readonly List<(long Start, long End)> _calls = [];
    private readonly List<string> _what = [];

    /// <summary>Adds a call.</summary>
    /// <param name="start">When it began.</param>
    /// <param name="end">When it was answered.</param>
    /// <param name="what">What it asked, for people.</param>
    public void Add(long start, long end, string what)
    {
        lock (_gate)
        {
            _calls.Add((start, end));
            _what.Add(what);
        }
    }

    /// <summary>The slowest calls, slowest first.</summary>
    public IReadOnlyList<(long Start, long End, string What)> Slowest(int count)
    {
        lock (_gate)
        {
            return [.. _calls.Zip(_what, (call, what) => (call.Start, call.End, what)).OrderByDescending(c => c.End - c.Start).Take(count)];
        }
    }

    /// <summary>The longest call of each window. A call belongs to the window in which it spent most of its time, with all
    /// of its time; one that touches none belongs to none.</summary>
    /// <param name="windows">Begin and end of each, in order of time; they do not overlap.</param>
    /// <returns>A duration for each window; 0 where no call belongs to it.</returns>
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
