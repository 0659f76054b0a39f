using Billing.Reporting;

namespace Billing.Measuring.Experiments;

/// <summary>Compares two sides round by round, so that what slows down both in one round does not count.</summary>
/// <param name="Ratios">For each round, the second side's figure divided by the first's.</param>
internal sealed record Pairs(IReadOnlyList<double> Ratios)
{
    /// <summary>The fewest pairs for a verdict. The range of five pairs contains the true median with a probability of
    /// 94 % (1 - 2 / 2^5, from the sign test); that of fewer with too little to say anything.</summary>
    public const int Fewest = 5;

    /// <summary>Compares a figure of two rows.</summary>
    public static Pairs Of(ResultRow first, ResultRow second, Figure figure) => new(
        [.. first.Values(figure).Zip(second.Values(figure), (one, other) => other / one).Where(double.IsFinite)]);

    /// <summary>Median and range of the ratios.</summary>
    public Spread Spread => Spread.Of(Ratios);

    /// <summary>The ratio as text: with five pairs or more as a verdict, otherwise as an
    /// observation without one.</summary>
    public string Text => Ratios.Count == 0 ? Numbers.None : Ratios.Count < Fewest
        ? $"{Numbers.Fixed(Spread.Median, 2)} ({Range}; no verdict: "
            + $"{Numbers.Counted(Ratios.Count, "pair")}, five are needed)"
        : $"{Numbers.Fixed(Spread.Median, 2)} "
            + $"({Range}{(Spread.Min <= 1 && Spread.Max >= 1 ? "; no difference seen" : "")})";

    private string Range => $"{Numbers.Fixed(Spread.Min, 2)}–{Numbers.Fixed(Spread.Max, 2)}";
}
