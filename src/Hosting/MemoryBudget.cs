namespace Billing.Hosting;

/// <summary>The memory that a process has for its objects. Each kind of thing that grows with what others send gets a
/// share of it, so that a service on a small machine holds less instead of ending.</summary>
/// <param name="Bytes">The memory in bytes: the limit of the garbage collector's heap
/// (<c>DOTNET_GCHeapHardLimit</c>); where there is none, three quarters of the limit of the container, or the machine's
/// memory.</param>
public sealed record MemoryBudget(long Bytes)
{
    /// <summary>That of this process.</summary>
    public static MemoryBudget OfProcess() => new(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes);

    /// <summary>A share in bytes.</summary>
    /// <param name="percent">The share, in percent of the memory.</param>
    public long Share(int percent) => Bytes / 100 * percent;

    /// <summary>How many things fit into a share: at least one.</summary>
    /// <param name="percent">The share, in percent of the memory.</param>
    /// <param name="bytesEach">What each of them takes, in bytes.</param>
    /// <param name="max">The most, however much memory there is.</param>
    public int Fitting(int percent, int bytesEach, int max) =>
        (int)Math.Clamp(Share(percent) / bytesEach, 1, max);

    /// <summary>A number of bytes for people, e.g. <c>288 MiB</c>.</summary>
    public static string Text(long bytes) => string.Create(
        System.Globalization.CultureInfo.InvariantCulture, $"{(bytes + (1 << 19)) >> 20} MiB");
}
