namespace Billing.Simulation;

/// <summary>All that is decided by chance in a run: the same seed throws the same dice.</summary>
/// <param name="seed">The seed.</param>
internal sealed class Dice(int seed)
{
    private readonly Random _random = new(seed);

    /// <summary>From 0 to below the bound.</summary>
    public int Next(int bound) => _random.Next(bound);

    /// <summary>From the first number to the second, both among them.</summary>
    public int Between(int least, int most) => _random.Next(least, most + 1);

    /// <summary>A time between two.</summary>
    public TimeSpan Between(TimeSpan least, TimeSpan most) => TimeSpan.FromTicks(_random.NextInt64(least.Ticks, most.Ticks + 1));

    /// <summary>A time of so many milliseconds at most.</summary>
    public TimeSpan UpTo(double milliseconds) => TimeSpan.FromTicks((long)(_random.NextDouble() * milliseconds * TimeSpan.TicksPerMillisecond));

    /// <summary>Whether something of such a probability happens.</summary>
    public bool Chance(double probability) => _random.NextDouble() < probability;

    /// <summary>One of several.</summary>
    public T Pick<T>(IReadOnlyList<T> several) => several[_random.Next(several.Count)];

    /// <summary>A seed for dice of their own.</summary>
    public int Seed() => _random.Next();

    /// <summary>An id.</summary>
    public Guid Id()
    {
        Span<byte> bytes = stackalloc byte[16];
        _random.NextBytes(bytes);
        return new Guid(bytes);
    }
}
