namespace Billing.UnitTests.Driver;

/// <summary>Generated latencies of several distributions, in microseconds from 1 us to 1 min. With this
/// number of values the rank of every tested percentile is a whole number, so that nearest rank and rounded
/// rank are the same value.</summary>
internal static class Latencies
{
    public const int Count = 100_000;
    public const long Lowest = 1;
    public const long Highest = 60_000_000;

    public static long[] Of(string shape)
    {
        var random = new Random(20_260);
        return [.. Enumerable.Range(0, Count).Select(_ => Math.Clamp(Draw(shape, random), Lowest, Highest))];
    }

    private static long Draw(string shape, Random random) => shape switch
    {
        "uniform" => random.NextInt64(Lowest, Highest + 1),
        "log-uniform" => (long)Math.Exp(random.NextDouble() * Math.Log(Highest)),
        "exponential" => (long)(-4_000 * Math.Log(1 - random.NextDouble())),
        "two humps" => random.Next(100) < 97 ? random.NextInt64(800, 2_000) : random.NextInt64(900_000, 5_000_000),
        "microseconds" => random.NextInt64(1, 50),
        "one value" => 12_345,
        _ => throw new ArgumentOutOfRangeException(nameof(shape)),
    };
}
