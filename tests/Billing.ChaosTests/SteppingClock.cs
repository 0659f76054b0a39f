using System.Buffers.Binary;
using Billing.LocalStack.Processes;

namespace Billing.ChaosTests;

/// <summary>The time of day of services that were started with its settings: it can be stepped. With libfaketime, which does
/// the same, the Kafka client waits for no time at all where the clock is behind: it knows nothing of the waits of C11.</summary>
internal sealed class SteppingClock
{
    private const string Source = "stepping_clock.c";
    private static readonly TimeSpan CompileBound = TimeSpan.FromMinutes(1);

    private readonly string _file;

    private SteppingClock(string library, string file)
    {
        _file = file;
        Settings = new Dictionary<string, string> { ["LD_PRELOAD"] = library, ["STEPPING_CLOCK"] = file };
    }

    /// <summary>What a service is started with, as environment variables.</summary>
    public IReadOnlyDictionary<string, string> Settings { get; }

    /// <summary>Why there is none here; null where there is.</summary>
    public static string? Missing =>
        File.Exists("/usr/bin/cc") ? null : "there is no C compiler, /usr/bin/cc (Debian: apt-get install gcc libc6-dev)";

    /// <summary>A clock that shows the true time.</summary>
    /// <param name="folder">Where its files go.</param>
    public static async Task<SteppingClock> CreateAsync(StackFolder folder)
    {
        var (library, file) = (Path.Combine(folder.FullName, "stepping_clock.so"), Path.Combine(folder.FullName, "seconds_off"));
        await ChildProcess.RunAsync(
            new ChildProcessStart(
                "cc", "/usr/bin/cc", ["-shared", "-fPIC", "-O2", "-o", library, Path.Combine(AppContext.BaseDirectory, Source)], folder.LogFile("cc")),
            CompileBound, CancellationToken.None);
        await File.WriteAllBytesAsync(file, new byte[sizeof(long)]);
        return new SteppingClock(library, file);
    }

    /// <summary>Steps the clock, at once.</summary>
    /// <param name="off">How far it is ahead from now on; negative: behind.</param>
    public void Step(TimeSpan off)
    {
        var bytes = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, (long)off.TotalSeconds);
        // Not shortened for a moment: the services have it mapped.
        using var file = new FileStream(_file, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
        file.Write(bytes);
    }
}
