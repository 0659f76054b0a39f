using System.Buffers.Binary;

namespace Billing.LocalStack.Processes;

/// <summary>A library in C that programs load before all others, to change what the system does to them, and a number
/// that it reads, which can be changed while they run.</summary>
public sealed class PreloadedLibrary
{
    private const string Compiler = "/usr/bin/cc";

    private readonly string _file;

    private PreloadedLibrary(string library, string variable, string file)
    {
        _file = file;
        Settings = new Dictionary<string, string> { ["LD_PRELOAD"] = library, [variable] = file };
    }

    /// <summary>Why there can be none on this machine; null if there can.</summary>
    public static string? Missing =>
        File.Exists(Compiler) ? null : $"there is no C compiler, {Compiler} (Debian: apt-get install gcc libc6-dev)";

    /// <summary>The environment variables with which a program is started.</summary>
    public IReadOnlyDictionary<string, string> Settings { get; }

    /// <summary>Compiles the library that shifts the time of day of a program by a number of seconds, at first 0.
    /// </summary>
    /// <param name="folder">The folder of its files.</param>
    /// <exception cref="StackException">It cannot be compiled.</exception>
    public static Task<PreloadedLibrary> SteppingClockAsync(StackFolder folder, CancellationToken cancellationToken) =>
        CompileAsync(folder, "stepping_clock.c", "STEPPING_CLOCK", cancellationToken);

    /// <summary>Compiles a library, with the number 0.</summary>
    /// <param name="folder">The folder of its files.</param>
    /// <param name="source">The name of its source, which is beside the program.</param>
    /// <param name="variable">The environment variable in which the library finds the file of its number.</param>
    /// <param name="ownName">The name of its files; that of the source if absent.</param>
    /// <exception cref="StackException">It cannot be compiled.</exception>
    public static async Task<PreloadedLibrary> CompileAsync(
        StackFolder folder, string source, string variable, CancellationToken cancellationToken, string? ownName = null)
    {
        var name = Path.Combine(folder.FullName, ownName ?? Path.GetFileNameWithoutExtension(source));
        await ChildProcess.RunAsync(
            new ChildProcessStart(
                "cc", Compiler,
                ["-shared", "-fPIC", "-O2", "-o", name + ".so", Path.Combine(AppContext.BaseDirectory, source)],
                folder.LogFile("cc")),
            ChildProcess.Patience, cancellationToken);
        await File.WriteAllBytesAsync(name, new byte[sizeof(long)], cancellationToken);
        foreach (var file in (string[])[name + ".so", name])
        {
            // PostgreSQL's account reads them, too.
            File.SetUnixFileMode(file, File.GetUnixFileMode(file) | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
        }
        return new PreloadedLibrary(name + ".so", variable, name);
    }

    /// <summary>Changes the number immediately.</summary>
    public void Set(long value)
    {
        var bytes = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        // Opened without truncation, because the programs have mapped the file.
        using var file = new FileStream(_file, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
        file.Write(bytes);
    }
}
