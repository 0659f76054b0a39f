using System.Diagnostics;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Machines;

/// <summary>The control group of a machine, which limits its memory and processor time, in the available hierarchies of version 1
/// or 2.</summary>
internal sealed class ControlGroup
{
    private const long PeriodUs = 100_000;
    private static readonly string[] Controllers = ["memory", "cpu", "name=systemd"];

    private const int RemoveAttempts = 50;
    private static readonly TimeSpan RemoveInterval = TimeSpan.FromMilliseconds(100);

    private readonly IReadOnlyList<string> _folders;

    private ControlGroup(IReadOnlyList<string> folders) => _folders = folders;

    /// <summary>The files to which a process writes its id to join the group.</summary>
    public IEnumerable<string> Members => _folders.Select(folder => Path.Combine(folder, "cgroup.procs"));

    /// <summary>The group's peak memory use including the page cache, in bytes; 0 if the kernel does not report it.</summary>
    public long PeakBytes => Number("memory.max_usage_in_bytes") ?? Number("memory.peak") ?? 0;

    /// <summary>Number of the group's processes that the kernel killed because it was out of memory.</summary>
    public long Kills => Counter("memory.oom_control", "oom_kill ") ?? Counter("memory.events", "oom_kill ") ?? 0;

    public static ControlGroup Create(string parent, string name, long memoryBytes, double processors)
    {
        try
        {
            var folders = Hierarchies().Select(hierarchy => Make(hierarchy, parent, name)).ToList();
            var group = new ControlGroup(folders);
            var limited = group.Write("memory.limit_in_bytes", $"{memoryBytes}") | group.Write("memory.max", $"{memoryBytes}");
            var quota = (long)(processors * PeriodUs);
            limited &= group.Write("cpu.cfs_quota_us", $"{quota}") | group.Write("cpu.max", $"{quota} {PeriodUs}");
            return limited ? group : throw new StackException("Control groups here cannot limit memory and processor time.");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StackException($"Control groups cannot be created here: {e.Message}", e);
        }
    }

    /// <summary>Kills the processes in the groups of a rehearsal and removes the groups. A container outlives the process that
    /// started it.</summary>
    public static async Task RemoveAsync(string parent)
    {
        using var pause = new PeriodicTimer(RemoveInterval);
        for (var attempt = 0; attempt < RemoveAttempts; attempt++)
        {
            var folders = Hierarchies().Select(hierarchy => Path.Combine(hierarchy, parent)).Where(Directory.Exists).ToList();
            if (folders.Count == 0)
            {
                return;
            }
            folders.ForEach(RemoveTree);
            await pause.WaitForNextTickAsync();
        }
    }

    /// <summary>Returns the names of groups that rehearsals left behind, which begin with a prefix.</summary>
    public static IReadOnlyList<string> Left(string prefix) =>
        [.. Hierarchies().SelectMany(hierarchy => Directory.EnumerateDirectories(hierarchy, prefix + "*")).Select(path => Path.GetFileName(path)).Distinct()];

    /// <summary>Returns the mount points of the required hierarchies, from <c>/proc/self/mounts</c>.</summary>
    private static IEnumerable<string> Hierarchies() =>
        from line in File.ReadLines("/proc/self/mounts")
        let parts = line.Split(' ')
        where parts[2] == "cgroup2" || (parts[2] == "cgroup" && parts[3].Split(',').Any(Controllers.Contains))
        group parts[1] by parts[2] + parts[3] into same
        select same.First();

    private static string Make(string hierarchy, string parent, string name)
    {
        var above = Path.Combine(hierarchy, parent);
        Directory.CreateDirectory(above);
        foreach (var folder in (string[])[hierarchy, above])
        {
            Delegate(folder);
        }
        return Directory.CreateDirectory(Path.Combine(above, name)).FullName;
    }

    // In version 2 a group sets the controllers of its child groups.
    private static void Delegate(string folder)
    {
        var there = Path.Combine(folder, "cgroup.controllers");
        if (!File.Exists(there))
        {
            return;
        }
        var controllers = File.ReadAllText(there).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries).Intersect(["cpu", "memory"]);
        foreach (var controller in controllers)
        {
            File.WriteAllText(Path.Combine(folder, "cgroup.subtree_control"), "+" + controller);
        }
    }

    // Control groups cannot be deleted recursively like folders, as the kernel owns the files in them.
    private static void RemoveTree(string folder)
    {
        foreach (var below in Directory.EnumerateDirectories(folder))
        {
            RemoveTree(below);
        }
        try
        {
            foreach (var member in File.ReadAllLines(Path.Combine(folder, "cgroup.procs")))
            {
                End(int.Parse(member));
            }
            Directory.Delete(folder);
        }
        catch (IOException)
        {
            // One of its processes has not ended yet.
        }
    }

    private static void End(int processId)
    {
        try
        {
            using var process = Process.GetProcessById(processId);
            process.Kill();
        }
        catch (ArgumentException)
        {
            // It has already ended.
        }
    }

    private bool Write(string file, string value)
    {
        var paths = _folders.Select(folder => Path.Combine(folder, file)).Where(File.Exists).ToList();
        paths.ForEach(path => File.WriteAllText(path, value));
        return paths.Count > 0;
    }

    private long? Number(string file) => Text(file) is { } text ? long.Parse(text) : null;

    private long? Counter(string file, string name) =>
        Text(file)?.Split('\n').FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal)) is { } line
            ? long.Parse(line.AsSpan(name.Length))
            : null;

    private string? Text(string file) =>
        _folders.Select(folder => Path.Combine(folder, file)).FirstOrDefault(File.Exists) is { } path ? File.ReadAllText(path).Trim() : null;
}
