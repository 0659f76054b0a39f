using System.Runtime.InteropServices;

namespace Billing.Measuring;

/// <summary>The machine that figures were measured on.</summary>
internal sealed record Machine(string Os, string Runtime, int Cores, double MemoryGib)
{
    /// <summary>The processor's name; null where the system does not tell it.</summary>
    public string? Processor { get; init; }

    public required MeasuredSoftware Software { get; init; }

    /// <summary>Describes this machine and the programs in the folder of this one.</summary>
    public static Machine This() => new(
        RuntimeInformation.OSDescription, RuntimeInformation.FrameworkDescription, Environment.ProcessorCount,
        Math.Round(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / (double)(1 << 30), 1))
    {
        Processor = ProcessorName(),
        Software = MeasuredSoftware.This(),
    };

    // Not every processor architecture has a model name in /proc/cpuinfo.
    private static string? ProcessorName() =>
        File.Exists("/proc/cpuinfo")
            ? File.ReadLines("/proc/cpuinfo").FirstOrDefault(line =>
                line.StartsWith("model name", StringComparison.Ordinal))?.Split(':', 2)[^1].Trim()
            : null;
}
