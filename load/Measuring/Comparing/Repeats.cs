namespace Billing.Measuring.Comparing;

/// <summary>The rule of every comparison here: all sides in turn in one sitting, several rounds, the first dropped. The order
/// rotates from round to round, so that a machine that grows slower or faster favours no side.</summary>
internal static class Repeats
{
    /// <summary>Runs all rounds.</summary>
    /// <param name="sides">What is compared.</param>
    /// <param name="rounds">Rounds that count, from 1; one more is run before them and dropped.</param>
    /// <param name="run">Measures a side; round 0 is the dropped one.</param>
    /// <param name="keep">Takes what counts.</param>
    /// <param name="cancellationToken">Ends between two measurements.</param>
    public static async Task RunAsync<TSide, TResult>(
        IReadOnlyList<TSide> sides, int rounds, Func<TSide, int, Task<TResult>> run, Action<TSide, TResult> keep,
        CancellationToken cancellationToken)
    {
        for (var round = 0; round <= rounds; round++)
        {
            foreach (var side in round % 2 == 0 ? sides : sides.Reverse())
            {
                cancellationToken.ThrowIfCancellationRequested();
                var result = await run(side, round);
                if (round > 0)
                {
                    keep(side, result);
                }
            }
        }
    }
}
