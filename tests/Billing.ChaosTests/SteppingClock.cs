using System.Buffers.Binary;
using Billing.LocalStack.Processes;

namespace Billing.ChaosTests;

/// <summary>The time of day of services that are started with its settings; it can be stepped. libfaketime is not used because it
/// does not support the timed waits of C11: with a clock that is behind, the waits of the Kafka client would end at once.
/// </summary>
internal sealed class SteppingClock
{
    private const string Source = "stepping_clock.c";

    private readonly string _file;

    private SteppingClock(string library, string file)
    {
        _file = file;
        Settings = new Dictionary<string, string> { ["LD_PRELOAD"] = library, ["STEPPING_CLOCK"] = file };
    }

    /// <summary>The settings with which a service is started, as environment variables.</summary>
    public IReadOnlyDictionary<string, string> Settings { get; }

    /// <summary>The reason why the clock cannot be used on this machine; null if it can.</summary>
    public static string? Missing =>
        File.Exists("/usr/bin/cc") ? null : "there is no C compiler, /usr/bin/cc (Debian: apt-get install gcc libc6-dev)";

    /// <summary>Creates a clock with the true time.</summary>
    /// <param name="folder">The folder of its files.</param>
    public static async Task<SteppingClock> CreateAsync(StackFolder folder)
    {
        var (library, file) = (Path.Combine(folder.FullName, "stepping_clock.so"), Path.Combine(folder.FullName, "seconds_off"));
        await ChildProcess.RunAsync(
            new ChildProcessStart(
                "cc", "/usr/bin/cc", ["-shared", "-fPIC", "-O2", "-o", library, Path.Combine(AppContext.BaseDirectory, Source)], folder.LogFile("cc")),
            Conditions.Patience, CancellationToken.None);
        await File.WriteAllBytesAsync(file, new byte[sizeof(long)]);
        return new SteppingClock(library, file);
    }

    /// <summary>Steps the clock immediately.</summary>
    /// <param name="off">The new offset from the true time; negative if the clock is behind.</param>
    public void Step(TimeSpan off)
    {
        var bytes = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, (long)off.TotalSeconds);
        // Opened without truncation, because the services have mapped the file.
        using var file = new FileStream(_file, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
        file.Write(bytes);
    }
}
