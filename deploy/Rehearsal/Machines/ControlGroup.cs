using System.Diagnostics;
using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Machines;

/// <summary>A machine's share of this one: memory and processor, in the hierarchies of control groups that there are, version 1
/// or 2.</summary>
internal sealed class ControlGroup
{
    private const long PeriodUs = 100_000;
    private static readonly string[] Controllers = ["memory", "cpu", "name=systemd"];

    private const int RemoveAttempts = 50;
    private static readonly TimeSpan RemoveInterval = TimeSpan.FromMilliseconds(100);

    private readonly IReadOnlyList<string> _folders;

    private ControlGroup(IReadOnlyList<string> folders) => _folders = folders;

    /// <summary>Where a process has to write its id to become part of the group.</summary>
    public IEnumerable<string> Members => _folders.Select(folder => Path.Combine(folder, "cgroup.procs"));

    /// <summary>The most memory that the group has used at a time, page cache included, in bytes; 0 where the kernel does not
    /// say.</summary>
    public long PeakBytes => Number("memory.max_usage_in_bytes") ?? Number("memory.peak") ?? 0;

    /// <summary>Times that the kernel killed one of the group's processes for want of memory.</summary>
    public long Kills => Counter("memory.oom_control", "oom_kill ") ?? Counter("memory.events", "oom_kill ") ?? 0;

    /// <summary>Makes a group.</summary>
    /// <param name="parent">The group above it, which all machines share.</param>
    /// <param name="name">Its name.</param>
    /// <param name="memoryBytes">All that its processes and their files in memory may take.</param>
    /// <param name="processors">How many processors' time it may use.</param>
    /// <exception cref="StackException">Control groups cannot be made here.</exception>
    public static ControlGroup Create(string parent, string name, long memoryBytes, double processors)
    {
        try
        {
            var folders = Hierarchies().Select(hierarchy => Make(hierarchy, parent, name)).ToList();
            var group = new ControlGroup(folders);
            var limited = group.Write("memory.limit_in_bytes", memoryBytes) | group.Write("memory.max", memoryBytes);
            var quota = (long)(processors * PeriodUs);
            limited &= group.Write("cpu.cfs_quota_us", quota) | group.Write("cpu.max", $"{quota} {PeriodUs}");
            return limited ? group : throw new StackException("Control groups here limit neither memory nor processor.");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StackException($"Control groups cannot be made here: {e.Message}", e);
        }
    }

    /// <summary>Ends whatever still runs in the groups of a rehearsal, and removes them. A container outlives what started it.
    /// </summary>
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

    /// <summary>Names of groups that rehearsals left behind, which begin with a prefix.</summary>
    public static IReadOnlyList<string> Left(string prefix) =>
        [.. Hierarchies().SelectMany(hierarchy => Directory.EnumerateDirectories(hierarchy, prefix + "*")).Select(path => Path.GetFileName(path)).Distinct()];

    /// <summary>Mount points of the hierarchies that matter, from <c>/proc/self/mounts</c>.</summary>
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

    // In version 2 a group says which controllers those below it have.
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

    // Control groups cannot be emptied as folders are: the files in them are the kernel's.
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
                End(int.Parse(member, CultureInfo.InvariantCulture));
            }
            Directory.Delete(folder);
        }
        catch (IOException)
        {
            // A process of it is just ending.
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
            // It has ended meanwhile.
        }
    }

    private bool Write(string file, FormattableString value) => WriteText(file, value.ToString(CultureInfo.InvariantCulture));

    private bool Write(string file, long value) => WriteText(file, value.ToString(CultureInfo.InvariantCulture));

    private bool WriteText(string file, string value)
    {
        var paths = _folders.Select(folder => Path.Combine(folder, file)).Where(File.Exists).ToList();
        paths.ForEach(path => File.WriteAllText(path, value));
        return paths.Count > 0;
    }

    private long? Number(string file) => Text(file) is { } text ? long.Parse(text, CultureInfo.InvariantCulture) : null;

    private long? Counter(string file, string name) =>
        Text(file)?.Split('\n').FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal)) is { } line
            ? long.Parse(line.AsSpan(name.Length), CultureInfo.InvariantCulture)
            : null;

    private string? Text(string file) =>
        _folders.Select(folder => Path.Combine(folder, file)).FirstOrDefault(File.Exists) is { } path ? File.ReadAllText(path).Trim() : null;
}
