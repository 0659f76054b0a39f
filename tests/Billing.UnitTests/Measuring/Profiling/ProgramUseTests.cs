using Billing.Measuring.Processes;

namespace Billing.UnitTests.Measuring.Profiling;

public sealed class ProgramUseTests
{
    private const string Metrics =
        """
        # TYPE dotnet_gc_collections_total counter
        # HELP dotnet_gc_collections_total The number of garbage collections.
        dotnet_gc_collections_total{gc_heap_generation="gen2"} 1 1795396506247
        dotnet_gc_collections_total{gc_heap_generation="gen1"} 4 1795396506247
        dotnet_gc_collections_total{gc_heap_generation="gen0"} 9 1795396506247
        dotnet_gc_heap_total_allocated_bytes_total 123456789 1795396506247
        dotnet_gc_pause_time_seconds_total 0.25 1795396506247
        dotnet_gc_last_collection_heap_size_bytes{gc_heap_generation="gen0"} 5 1795396506247
        """;

    [Fact]
    public void The_runtime_metrics_of_a_service_are_parsed() =>
        Assert.Equal(new RuntimeUse(123_456_789, 9, 4, 1, 250_000), RuntimeUse.Parse(Metrics));

    [Fact]
    public void Without_runtime_metrics_there_is_no_runtime_use() => Assert.Null(RuntimeUse.Parse("up 1\n"));

    [Fact]
    public void Context_switches_and_memory_are_parsed_from_proc_files()
    {
        Assert.Equal((120L, 7L), ProcessorTimes.ParseSwitches("Name:\tx\nVmRSS:\t 12 kB\nvoluntary_ctxt_switches:\t120\nnonvoluntary_ctxt_switches:\t7\n"));
        Assert.Equal(2.048, ProcessorTimes.ParseMemoryMb("55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:   9000 kB\nPss:    2000 kB\nPss_Anon: 1 kB\n"), 9);
    }

    [Fact]
    public void The_processor_time_of_threads_and_the_memory_of_this_process_are_read()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux has /proc");
        (string, int)[] self = [("self", Environment.ProcessId), ("gone", int.MaxValue)];
        var before = ProcessorTimes.Read(self);
        var start = Environment.CpuUsage.TotalTime;
        var sum = 0.0;
        while (Environment.CpuUsage.TotalTime - start < TimeSpan.FromMilliseconds(200))
        {
            sum += Math.Sqrt(sum + 1);
        }

        var use = Assert.Single(ProcessorTimes.Read(self).Since(before));

        Assert.Equal("self", use.Role);
        Assert.True(use.UserUs + use.KernelUs >= 100_000, $"{use.UserUs} + {use.KernelUs} after {sum}");
        Assert.True(use.MemoryMb > 10);
        Assert.Contains(use.Threads, thread => thread.UserUs + thread.KernelUs > 0);
    }

    [Fact]
    public void Costs_are_divided_by_the_number_of_payments_and_memory_is_not()
    {
        var use = new ProgramUse("proxy", 2, 100, 50, 20, 10, 64, [new ThreadUse("a", 3, 40, 20)]) { Runtime = new RuntimeUse(1000, 4, 2, 1, 30) }.Per(10);

        Assert.Equal((10, 5, 2, 1, 64), (use.UserUs, use.KernelUs, use.VoluntarySwitches, use.ForcedSwitches, use.MemoryMb));
        Assert.Equal(new ThreadUse("a", 3, 4, 2), Assert.Single(use.Threads));
        Assert.Equal(new RuntimeUse(100, 0.4, 0.2, 0.1, 3), use.Runtime);
    }
}
