using System.Diagnostics;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Machines;

/// <summary>A machine as a booting container: with its own file system over the image, network, processes and systemd,
/// and with the memory and processor of its instance type.</summary>
internal sealed class RunningMachine : IAsyncDisposable
{
    /// <summary>A t2.micro: 1 GiB, and one virtual processor while it has credits, of which it has half an hour at its
    /// start. Its baseline without credits is a tenth of that.
    /// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-credits-baseline-concepts.html</summary>
    private const long MemoryBytes = 1L << 30;

    private const double Processors = 1;
    private const double Baseline = 0.1;

    private static readonly TimeSpan BootBound = TimeSpan.FromMinutes(2);

    private readonly ChildProcess _container;
    private readonly ControlGroup _group;
    private int _firstProcess;

    private RunningMachine(Machine machine, ChildProcess container, ControlGroup group)
    {
        Machine = machine;
        _container = container;
        _group = group;
    }

    public Machine Machine { get; }

    public bool IsRunning => !_container.HasExited;

    /// <summary>Its peak memory use including the page cache, in bytes.</summary>
    public long PeakBytes => _group.PeakBytes;

    /// <summary>Number of its processes that the kernel killed because it was out of memory.</summary>
    public long MemoryKills => _group.Kills;

    /// <summary>Boots a machine, whose network namespace must exist.</summary>
    public static async Task<RunningMachine> BootAsync(Machine machine, Site site, CancellationToken cancellationToken)
    {
        var group = ControlGroup.OfMachine(site.GroupName, machine.Name, MemoryBytes, Processors);
        var root = await site.MountAsync(machine.Name, cancellationToken);
        string[] nspawn =
        [
            "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot",
            "--directory=" + root, "--machine=" + machine.Name,
            "--network-namespace-path=" + MachineNetwork.NamespacePath(machine.Name),
            "--console=read-only", "--link-journal=no",
            "--resolv-conf=off", "--timezone=off", "--bind-ro=" + site.Releases + ":/srv/billing/releases",
            "--bind-ro=" + site.Packages + ":/srv/billing/packages", "--bind=" + site.Shared + ":/srv/billing/shared",
            "--bind-ro=" + site.Secrets + ":/etc/billing/secrets",
        ];
        var container = ChildProcess.Start(
            new ChildProcessStart(
                machine.Name, nspawn[0], nspawn[1..], Path.Combine(site.Logs, machine.Name + ".boot.log"))
            {
                Group = group,
                // The settings of its own network.
                Environment = new Dictionary<string, string?> { ["SYSTEMD_NSPAWN_API_VFS_WRITABLE"] = "network" },
            });
        var running = new RunningMachine(machine, container, group);
        try
        {
            await container.WaitUntilAsync(running.HasBootedAsync, BootBound, cancellationToken);
            return running;
        }
        catch
        {
            await running.DisposeAsync();
            throw;
        }
    }

    /// <summary>Takes its credits: it has its baseline from now on.</summary>
    public void SpendCredits() => _group.LimitProcessors(Baseline);

    /// <summary>Returns a shell on the machine with the rights of its root.</summary>
    public Tool Shell() => new("sh", Joining(_group, Entering("bash", "-euo", "pipefail", "-c")));

    public async Task<string> RunAsync(string commands, CancellationToken cancellationToken)
    {
        var (exitCode, output, errors) = await Shell().TryAsync([commands], cancellationToken);
        return exitCode == 0
            ? output
            : throw new StackException($"{Machine.Name}: {commands}: exit code {exitCode}: {errors}{output}".TrimEnd());
    }

    /// <summary>Returns how to start a program on it from outside.</summary>
    public ProcessStartInfo Starting(params string[] program) => new("sh", Joining(_group, Entering(program)));

    /// <summary>Returns the memory of a service, in bytes: the peak resident memory of its main process or, if larger,
    /// the current memory of all its processes, with shared pages counted once.</summary>
    public async Task<long> ResidentAsync(string unit, CancellationToken cancellationToken)
    {
        var output = await RunAsync(
            $$"""
            peak=$(sed -nE 's/^VmHWM:\s+([0-9]+) kB$/\1/p' /proc/$(systemctl show -p MainPID --value {{unit}})/status)
            all=$(cat $(find /sys/fs/cgroup -path '*/{{unit}}.service/cgroup.procs' 2>/dev/null | head -n 1))
            now=0
            for process in $all; do
              kb=$(sed -nE 's/^Pss:\s+([0-9]+) kB$/\1/p' /proc/$process/smaps_rollup 2>/dev/null || echo 0)
              now=$((now + kb))
            done
            echo $((now > peak ? now : peak))
            """,
            cancellationToken);
        return long.Parse(output.Trim()) * 1024;
    }

    public async Task<string> JournalAsync(int lines, CancellationToken cancellationToken)
    {
        var (_, output, errors) = await Shell()
            .TryAsync([$"journalctl --no-pager -o short-iso -n {lines}"], cancellationToken);
        return output + errors;
    }

    /// <summary>Kills the machine. Its remaining processes end with its control group.</summary>
    public ValueTask DisposeAsync() => _container.DisposeAsync();

    // Arguments of a shell that joins the group and then executes the program, so that all its child processes are
    // in the group too.
    private static string[] Joining(ControlGroup group, IReadOnlyList<string> program) =>
        [
            "-c", $"{string.Join("; ", group.Members.Select(file => $"echo $$ > '{file}'"))}; exec \"$@\"",
            "sh", .. program,
        ];

    private string[] Entering(params string[] program) =>
    [
        "nsenter", "--target", $"{_firstProcess}", "--mount", "--uts", "--ipc", "--net", "--pid", "--root",
        "env", "--chdir=/", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=/root", "LANG=C.UTF-8", .. program,
    ];

    private async Task<bool> HasBootedAsync(CancellationToken cancellationToken)
    {
        if (_firstProcess == 0)
        {
            _firstProcess = ProcessIdentity.ChildrenOf(_container.Id).FirstOrDefault(IsFirstOfItsNamespace);
            return false;
        }
        var (_, state, _) = await Shell().TryAsync(["systemctl is-system-running --wait || true"], cancellationToken);
        return state.Trim() is "running" or "degraded";
    }

    private static bool IsFirstOfItsNamespace(int process)
    {
        try
        {
            return File.ReadLines($"/proc/{process}/status").Any(line =>
                line.StartsWith("NSpid:", StringComparison.Ordinal) && line.EndsWith("\t1", StringComparison.Ordinal));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The process has already ended.
            return false;
        }
    }
}
