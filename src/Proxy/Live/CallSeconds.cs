namespace Billing.Proxy.Live;

/// <summary>Counts the calls of each of the last seconds. Thread-safe.</summary>
internal sealed class CallSeconds(TimeProvider time)
{
    /// <summary>How many seconds are kept.</summary>
    public const int Kept = 120;

    private readonly Lock _gate = new();
    private readonly Second[] _seconds = [.. Enumerable.Range(0, Kept + 1).Select(_ => new Second(-1))];

    /// <summary>The number of the present second.</summary>
    public long Now => time.GetUtcNow().ToUnixTimeSeconds();

    /// <summary>Counts a command that was answered.</summary>
    public void Answered() => Interlocked.Increment(ref Current().Answered);

    /// <summary>Counts a call that failed.</summary>
    public void Failed() => Interlocked.Increment(ref Current().Failed);

    /// <summary>Counts how long an answered call took.</summary>
    public void Took(TimeSpan duration) => Current().Durations.Add(duration);

    /// <summary>The seconds in a range, its end excluded; includes seconds without calls.</summary>
    public IEnumerable<Second> Between(long from, long to)
    {
        for (var number = from; number < to; number++)
        {
            yield return Find(number) ?? new Second(number);
        }
    }

    /// <summary>All durations in a range of seconds, its end excluded.</summary>
    public DurationHistogram Durations(long from, long to)
    {
        var sum = new DurationHistogram();
        foreach (var second in Between(from, to))
        {
            sum.Add(second.Durations);
        }
        return sum;
    }

    private Second Current()
    {
        var now = Now;
        return Find(now) ?? Begin(now);
    }

    private Second? Find(long number) => Volatile.Read(ref _seconds[Index(number)]) is var found && found.Number == number ? found : null;

    private Second Begin(long number)
    {
        lock (_gate)
        {
            if (Find(number) is { } begun)
            {
                return begun;
            }
            var second = new Second(number);
            Volatile.Write(ref _seconds[Index(number)], second);
            return second;
        }
    }

    private int Index(long number) => (int)(number % _seconds.Length);

    /// <summary>One second.</summary>
    internal sealed class Second(long number)
    {
        /// <summary>Number of commands answered in it.</summary>
        public int Answered;

        /// <summary>Number of calls that failed in it.</summary>
        public int Failed;

        /// <summary>Seconds since the Unix epoch.</summary>
        public long Number => number;

        /// <summary>The durations of the calls answered in it.</summary>
        public DurationHistogram Durations { get; } = new();
    }
}
