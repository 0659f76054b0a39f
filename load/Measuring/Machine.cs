using System.Runtime.InteropServices;

namespace Billing.Measuring;

/// <summary>What figures were measured on.</summary>
internal sealed record Machine(string Os, string Runtime, int Cores, double MemoryGib)
{
    /// <summary>The processor's name; null in older results.</summary>
    public string? Processor { get; init; }

    /// <summary>What was measured; null in older results.</summary>
    public MeasuredSoftware? Software { get; init; }

    /// <summary>This machine, with the programs beside this one.</summary>
    public static Machine This() => new(
        RuntimeInformation.OSDescription, RuntimeInformation.FrameworkDescription, Environment.ProcessorCount,
        Math.Round(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / (double)(1 << 30), 1))
    {
        Processor = ProcessorName(),
        Software = MeasuredSoftware.This(),
    };

    // Not every kind of processor has a name there.
    private static string? ProcessorName() =>
        File.Exists("/proc/cpuinfo")
            ? File.ReadLines("/proc/cpuinfo").FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal))?.Split(':', 2)[^1].Trim()
            : null;
}
