using System.Collections.Concurrent;
using HdrHistogram;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace NBomber.Domain;

/// <summary>What happened to the calls of one scenario or step that ended well, or to those that did not. Any thread may
/// record at any time.</summary>
internal sealed class Series(bool isError)
{
    private const long LongestUs = 60_000_000;
    private const long MostBytes = 1L << 40;

    private readonly LongConcurrentHistogram _latencies = new(1, LongestUs, 3);
    private readonly ConcurrentDictionary<string, Code> _codes = new(StringComparer.Ordinal);
    private readonly Lazy<LongConcurrentHistogram> _sizes = new(() => new LongConcurrentHistogram(1, MostBytes, 3));
    private long _bytes;

    public int Count => (int)_latencies.TotalCount;

    public void Record(TimeSpan latency, IResponse response)
    {
        _latencies.RecordValue(Math.Clamp(latency.Ticks / TimeSpan.TicksPerMicrosecond, 1, LongestUs));
        if (response.SizeBytes > 0)
        {
            _sizes.Value.RecordValue(Math.Min(response.SizeBytes, MostBytes));
            Interlocked.Add(ref _bytes, response.SizeBytes);
        }
        var code = _codes.GetOrAdd(response.StatusCode, static (_, message) => new Code(message), response.Message);
        Interlocked.Increment(ref code.Count);
    }

    /// <param name="duration">What the rate is taken over.</param>
    /// <param name="all">Calls of the scenario, well or not, that the shares are taken of.</param>
    public MeasurementStats Stats(TimeSpan duration, int all) => new()
    {
        Request = new RequestStats { Count = Count, RPS = duration > TimeSpan.Zero ? Count / duration.TotalSeconds : 0, Percent = Percent(Count, all) },
        Latency = Latencies(_latencies.Copy()),
        DataTransfer = _sizes.IsValueCreated ? Sizes(_sizes.Value.Copy()) : new DataTransferStats(),
        StatusCodes =
        [
            .. _codes.Where(c => c.Key.Length > 0 || isError).OrderBy(c => c.Key, StringComparer.Ordinal).Select(c => new StatusCodeStats
            {
                StatusCode = c.Key, IsError = isError, Message = c.Value.Message, Count = c.Value.Count, Percent = Percent(c.Value.Count, all),
            }),
        ],
    };

    private static int Percent(int part, int all) => all == 0 ? 0 : (int)Math.Round(100.0 * part / all);

    private static LatencyStats Latencies(HistogramBase histogram) => histogram.TotalCount == 0 ? new LatencyStats { LatencyCount = new LatencyCount() } : new LatencyStats
    {
        MinMs = histogram.LowestEquivalentValue(histogram.GetValueAtPercentile(0)) / 1e3,
        MeanMs = histogram.GetMean() / 1e3,
        MaxMs = histogram.GetMaxValue() / 1e3,
        Percent50 = histogram.GetValueAtPercentile(50) / 1e3,
        Percent75 = histogram.GetValueAtPercentile(75) / 1e3,
        Percent95 = histogram.GetValueAtPercentile(95) / 1e3,
        Percent99 = histogram.GetValueAtPercentile(99) / 1e3,
        StdDev = histogram.GetStdDeviation() / 1e3,
        LatencyCount = Counts(histogram),
    };

    private static LatencyCount Counts(HistogramBase histogram)
    {
        var counts = new LatencyCount();
        foreach (var recorded in histogram.RecordedValues())
        {
            var count = (int)recorded.CountAddedInThisIterationStep;
            switch (recorded.ValueIteratedTo / 1e3)
            {
                case <= 800: counts.LessOrEq800 += count; break;
                case < 1200: counts.More800Less1200 += count; break;
                default: counts.MoreOrEq1200 += count; break;
            }
        }
        return counts;
    }

    private DataTransferStats Sizes(HistogramBase histogram) => new()
    {
        MinBytes = histogram.LowestEquivalentValue(histogram.GetValueAtPercentile(0)),
        MeanBytes = (long)histogram.GetMean(),
        MaxBytes = histogram.GetMaxValue(),
        Percent50 = histogram.GetValueAtPercentile(50),
        Percent75 = histogram.GetValueAtPercentile(75),
        Percent95 = histogram.GetValueAtPercentile(95),
        Percent99 = histogram.GetValueAtPercentile(99),
        StdDev = histogram.GetStdDeviation(),
        AllBytes = Interlocked.Read(ref _bytes),
    };

    private sealed class Code(string message)
    {
        public int Count;

        public string Message => message;
    }
}
