namespace Billing.Measuring.Sweeping;

/// <summary>A place of a sweep.</summary>
/// <param name="Connections">Connections.</param>
/// <param name="InFlight">Requests under way at the same time on each.</param>
public readonly record struct SweepPoint(int Connections, int InFlight);

/// <summary>Which places of a sweep to measure: connections and requests in flight double from 1 on. A row (one number of
/// connections) ends when two doublings in a row have not brought a twentieth more than the row's best before; the sweep
/// ends when two rows in a row have not brought a twentieth more than the best row before.</summary>
public static class DynamicSearch
{
    private const double WorthWhile = 1.05;
    private const int Patience = 2;

    /// <summary>Measures places until more load brings nothing.</summary>
    /// <param name="connectionsMax">Connections at most.</param>
    /// <param name="inFlightMax">Requests in flight on each connection at most.</param>
    /// <param name="measure">Measures a place and returns its throughput.</param>
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

    /// <summary>1, 2, 4 and so on, and at last the bound itself.</summary>
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
        private int _inVain;

        public double Best { get; private set; }

        public bool IsOver => _inVain >= Patience;

        public void Add(double height)
        {
            _inVain = height > Best * WorthWhile ? 0 : _inVain + 1;
            Best = Math.Max(Best, height);
        }
    }
}
