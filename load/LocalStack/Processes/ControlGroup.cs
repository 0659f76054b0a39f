using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>A control group, which limits the processor time of its processes, their memory, or as a machine both, in
/// the available hierarchies of version 1 or 2.</summary>
public sealed class ControlGroup
{
    private const long PeriodUs = 100_000;
    private static readonly string[] Machine = ["memory", "cpu", "name=systemd"];
    private static readonly string[] Processor = ["cpu"];
    private static readonly string[] Memory = ["memory"];

    private const string ProcessesFile = "cgroup.procs";
    private static readonly TimeSpan RemoveBound = TimeSpan.FromSeconds(5);

    private readonly IReadOnlyList<string> _folders;

    private ControlGroup(IReadOnlyList<string> folders) => _folders = folders;

    /// <summary>The files to which a process writes its id to join the group.</summary>
    public IEnumerable<string> Members => _folders.Select(folder => Path.Combine(folder, ProcessesFile));

    /// <summary>The group's peak memory use including the page cache, in bytes; 0 if the kernel
    /// does not report it.</summary>
    public long PeakBytes => Number("memory.max_usage_in_bytes") ?? Number("memory.peak") ?? 0;

    /// <summary>Number of the group's processes that the kernel killed because it was out of memory.</summary>
    public long Kills => Counter("memory.oom_control", "oom_kill ") ?? Counter("memory.events", "oom_kill ") ?? 0;

    /// <summary>The most memory that a process may have by this group, in bytes; null if the process is not in
    /// it.</summary>
    public long? MemoryMaxOf(int processId) =>
        Members.SelectMany(File.ReadLines).Contains($"{processId}")
            ? Number("memory.limit_in_bytes") ?? Number("memory.max")
            : null;

    /// <summary>Creates a group that limits the processor time of its processes.</summary>
    /// <param name="parent">The name of the group above it.</param>
    /// <param name="processors">Number of processors, 0.01 or more.</param>
    /// <exception cref="StackException">Groups cannot be created here, or cannot limit.</exception>
    public static ControlGroup OfProcessors(string parent, string name, double processors) =>
        Create(Processor, parent, name, group => group.LimitProcessors(processors));

    /// <summary>Creates a group that limits the memory of its processes, with the page cache; the kernel ends one of
    /// them if they need more.</summary>
    /// <param name="parent">The name of the group above it.</param>
    /// <exception cref="StackException">Groups cannot be created here, or cannot limit.</exception>
    public static ControlGroup OfMemory(string parent, string name, long bytes) =>
        Create(Memory, parent, name, group => group.LimitMemory(bytes));

    /// <summary>Creates a group with the memory and the processor of a machine, in which systemd can run.</summary>
    /// <exception cref="StackException">Groups cannot be created here, or cannot limit.</exception>
    public static ControlGroup OfMachine(string parent, string name, long memoryBytes, double processors) =>
        Create(Machine, parent, name, group => group.LimitMemory(memoryBytes) & group.LimitProcessors(processors));

    private static ControlGroup Create(string[] controllers, string parent, string name, Func<ControlGroup, bool> limit)
    {
        try
        {
            var group = new ControlGroup(
                Hierarchies(controllers).Select(hierarchy => Make(hierarchy, parent, name)).ToList());
            return limit(group)
                ? group
                : throw new StackException("Control groups here cannot limit memory or processor time.");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StackException($"Control groups cannot be created here: {e.Message}", e);
        }
    }

    private bool LimitMemory(long bytes) =>
        Write("memory.limit_in_bytes", $"{bytes}") | Write("memory.max", $"{bytes}");

    /// <summary>Changes how much processor time its processes get.</summary>
    /// <returns>False if the kernel cannot limit it.</returns>
    public bool LimitProcessors(double processors)
    {
        var quota = (long)(processors * PeriodUs);
        return Write("cpu.cfs_quota_us", $"{quota}") | Write("cpu.max", $"{quota} {PeriodUs}");
    }

    /// <summary>Moves this process into the group; what it starts from now on is in it too.</summary>
    public void Enter()
    {
        foreach (var file in Members)
        {
            Join(file);
        }
    }

    /// <summary>Moves this process out of the group.</summary>
    public void Leave()
    {
        foreach (var folder in _folders)
        {
            Join(Path.Combine(folder, "..", "..", ProcessesFile));
        }
    }

    /// <summary>Removes the groups below another one in which no process is left.</summary>
    public static void RemoveEmpty(string parent)
    {
        foreach (var above in Hierarchies(Machine).Select(hierarchy => Path.Combine(hierarchy, parent))
            .Where(Directory.Exists))
        {
            Directory.GetDirectories(above).ToList().ForEach(RemoveIfEmpty);
            RemoveIfEmpty(above);
        }
    }

    /// <summary>Kills the processes in the groups of a rehearsal and removes the groups. A container outlives the
    /// process that started it.</summary>
    public static async Task RemoveAsync(string parent)
    {
        await Poll.LastAsync(
            () =>
            {
                var folders = Hierarchies(Machine).Select(hierarchy => Path.Combine(hierarchy, parent))
                    .Where(Directory.Exists).ToList();
                folders.ForEach(RemoveTree);
                return Task.FromResult(folders.Count);
            },
            left => left == 0, RemoveBound);
    }

    /// <summary>Returns the names of groups that rehearsals left behind, which begin with a prefix.</summary>
    public static IReadOnlyList<string> Left(string prefix) =>
        [
            .. Hierarchies(Machine).SelectMany(hierarchy => Directory.EnumerateDirectories(hierarchy, prefix + "*"))
                .Select(path => Path.GetFileName(path)).Distinct(),
        ];

    /// <summary>Returns the mount points of the required hierarchies, from <c>/proc/self/mounts</c>.</summary>
    private static IEnumerable<string> Hierarchies(string[] controllers) =>
        from line in File.ReadLines("/proc/self/mounts")
        let parts = line.Split(' ')
        where parts[2] == "cgroup2" || (parts[2] == "cgroup" && parts[3].Split(',').Any(controllers.Contains))
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
        var controllers = File.ReadAllText(there).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)
            .Intersect(["cpu", "memory"]);
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
            foreach (var member in File.ReadAllLines(Path.Combine(folder, ProcessesFile)))
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

    private static void Join(string file) => File.WriteAllText(file, $"{Environment.ProcessId}");

    private static void RemoveIfEmpty(string folder)
    {
        try
        {
            Directory.Delete(folder);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A process is in it, or another group; or it belongs to another user.
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
        _folders.Select(folder => Path.Combine(folder, file)).FirstOrDefault(File.Exists) is { } path
            ? File.ReadAllText(path).Trim()
            : null;
}
