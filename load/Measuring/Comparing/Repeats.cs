namespace Billing.Measuring.Comparing;

/// <summary>The rule of every comparison here: all sides alternate in one session of several rounds, of which the first is
/// dropped. The order is reversed in every other round, so that a machine that becomes slower or faster favours no side.
/// </summary>
internal static class Repeats
{
    /// <summary>Runs all rounds.</summary>
    /// <param name="sides">The sides to compare.</param>
    /// <param name="rounds">Number of measured rounds, from 1; one more runs before them and is dropped.</param>
    /// <param name="run">Measures a side; round 0 is the dropped one.</param>
    /// <param name="keep">Receives the results of the measured rounds.</param>
    /// <param name="cancellationToken">Stops it between two measurements.</param>
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
