using BenchmarkDotNet.Attributes;
using Billing.Driver.Metering;

namespace Billing.Benchmarks;

/// <summary>The cost of measuring latencies.</summary>
public class Histogram
{
    private readonly LatencyHistogram _filled = new();
    private readonly LatencyHistogram _recording = new();
    private long _next;

    [GlobalSetup]
    public void Setup()
    {
        for (var i = 0; i < 100_000; i++)
        {
            _filled.Record((i * 7919L) % 60_000_000);
        }
    }

    [Benchmark]
    public void Record() => _recording.Record((_next += 7919) % 60_000_000);

    [Benchmark]
    public LatencyFigures Figures() => _filled.Figures();
}
