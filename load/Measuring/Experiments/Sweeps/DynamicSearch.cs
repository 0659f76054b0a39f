namespace Billing.Measuring.Experiments.Sweeps;

/// <summary>A configuration of a sweep.</summary>
/// <param name="InFlight">Number of requests in flight on each connection.</param>
public readonly record struct SweepPoint(int Connections, int InFlight);

/// <summary>Searches the configuration with the highest throughput: connections and requests in flight double
/// from 1 on. A row (one number of connections) ends after two consecutive doublings that gained less than 5 %
/// over the best throughput of the row; the sweep ends after two consecutive rows that gained less than 5 %
/// over the best row.</summary>
public static class DynamicSearch
{
    private const double MinimumGain = 1.05;
    private const int StepsWithoutGainMax = 2;

    /// <summary>Measures configurations until more load no longer increases the throughput.</summary>
    /// <param name="connectionsMax">Highest number of connections.</param>
    /// <param name="inFlightMax">Highest number of requests in flight on each connection.</param>
    /// <param name="measure">Measures a configuration and returns its throughput.</param>
    public static async Task RunAsync(int connectionsMax, int inFlightMax, Func<SweepPoint, Task<double>> measure)
    {
        ArgumentNullException.ThrowIfNull(measure);
        var rows = new Climb();
        foreach (var connections in Doublings(connectionsMax))
        {
            var row = new Climb();
            foreach (var inFlight in Doublings(inFlightMax))
            {
                row.Add(await measure(new SweepPoint(connections, inFlight)));
                if (row.IsOver)
                {
                    break;
                }
            }
            rows.Add(row.Best);
            if (rows.IsOver)
            {
                break;
            }
        }
    }

    /// <summary>Returns 1, 2, 4 and so on, and the bound as the last value.</summary>
    /// <param name="max">The bound, from 1.</param>
    public static IEnumerable<int> Doublings(int max)
    {
        for (var value = 1; value < max; value *= 2)
        {
            yield return value;
        }
        yield return max;
    }

    private sealed class Climb
    {
        private int _stepsWithoutGain;

        public double Best { get; private set; }

        public bool IsOver => _stepsWithoutGain >= StepsWithoutGainMax;

        public void Add(double throughput)
        {
            _stepsWithoutGain = throughput > Best * MinimumGain ? 0 : _stepsWithoutGain + 1;
            Best = Math.Max(Best, throughput);
        }
    }
}
