namespace Billing.Simulation;

/// <summary>The source of all randomness in a run; the same seed gives the same sequence.</summary>
internal sealed class Dice(int seed)
{
    private readonly Random _random = new(seed);

    /// <summary>A number from 0 to below the bound.</summary>
    public int Next(int bound) => _random.Next(bound);

    /// <summary>A number from the first to the second, both inclusive.</summary>
    public int Between(int least, int most) => _random.Next(least, most + 1);

    /// <summary>A duration between two others, both inclusive.</summary>
    public TimeSpan Between(TimeSpan least, TimeSpan most) =>
        TimeSpan.FromTicks(_random.NextInt64(least.Ticks, most.Ticks + 1));

    /// <summary>A duration from zero to the given number of milliseconds.</summary>
    public TimeSpan UpTo(double milliseconds) =>
        TimeSpan.FromTicks((long)(_random.NextDouble() * milliseconds * TimeSpan.TicksPerMillisecond));

    public bool Chance(double probability) => _random.NextDouble() < probability;

    public T Pick<T>(IReadOnlyList<T> several) => several[_random.Next(several.Count)];

    /// <summary>A seed for separate dice.</summary>
    public int Seed() => _random.Next();

    public Guid Id()
    {
        Span<byte> bytes = stackalloc byte[16];
        _random.NextBytes(bytes);
        return new Guid(bytes);
    }
}
