using System.Collections.Concurrent;
using System.ComponentModel;
using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>
/// A program of the stack, started by this process. It has its own log file and no terminal.
/// Unless it is detached, it is killed on disposal and when this process ends.</summary>
public sealed class ChildProcess : IAsyncDisposable
{
    /// <summary>The longest wait for a program to be ready, or to do a small task. Only for a program that hangs is it
    /// that long: a machine may be slow.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private const int LinesInMessages = 15;
    private const int LongestTail = 64 * 1024;
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(50);

    // The outer shell opens the log while it still runs as this process's user. Because of setsid, Ctrl-C in the
    // terminal only reaches this process, which stops its children in order. The kernel's parent-death signal covers
    // every end of this process, including kill -9. It is set after any change of user, which would clear it; the
    // inner shell detects an end of this process before that. All of them exec, so that the program has the process id
    // that Process knows.
    private const string OpenLog = "exec >>\"$0\" 2>&1 </dev/null && exec \"$@\"";
    private const string CheckParent = "[ \"$PPID\" = \"$0\" ] && exec \"$@\"";

    // The parent-death signal is sent at the end of the *thread* that started the child. Pool threads can end at any
    // time, so all children are started by one thread that lives as long as the process.
    private static readonly BlockingCollection<Task> Launches = StartLaunchThread();

    private readonly ChildProcessStart _start;
    private readonly Process _process;
    private readonly long _logStart;

    private ChildProcess(ChildProcessStart start, Process process, long logStart)
    {
        _start = start;
        _process = process;
        _logStart = logStart;
        Identity = ProcessIdentity.Of(process.Id);
    }

    /// <summary>The program's process id.</summary>
    public int Id => _process.Id;

    /// <summary>The identity by which another process can find the program, if it is detached.</summary>
    public ProcessIdentity Identity { get; }

    /// <summary>The program's name within the stack.</summary>
    public string Name => _start.Name;

    /// <summary>The description of the start, with which the program can be started again.</summary>
    public ChildProcessStart Started => _start;

    /// <summary>The absolute path of its log.</summary>
    public string LogFile => _start.LogFile;

    /// <summary>Whether it has ended.</summary>
    public bool HasExited => _process.HasExited;

    /// <summary>Its exit code, 128 + n if signal n ended it; null while it runs.</summary>
    public int? ExitCode => _process.HasExited ? _process.ExitCode : null;

    /// <summary>Starts a program; it may not be ready yet.</summary>
    /// <exception cref="StackException">It could not be started.</exception>
    public static ChildProcess Start(ChildProcessStart start)
    {
        ArgumentNullException.ThrowIfNull(start);
        var information = new ProcessStartInfo("/bin/sh", CommandLine(start))
        {
            WorkingDirectory = start.WorkingDirectory ?? Path.GetDirectoryName(start.LogFile),
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in start.Environment)
        {
            information.Environment[name] = value;
        }
        var logStart = File.Exists(start.LogFile) ? new FileInfo(start.LogFile).Length : 0;
        return new ChildProcess(start, Launch(information), logStart);
    }

    /// <summary>Runs a program to its end.</summary>
    /// <exception cref="StackException">It failed, or exceeded the time limit and was killed.</exception>
    public static async Task RunAsync(ChildProcessStart start, TimeSpan timeout, CancellationToken cancellationToken)
    {
        await using var child = Start(start);
        await child.WithinAsync(timeout, "did not finish", child.WaitForExitAsync, cancellationToken);
        if (child.ExitCode != 0)
        {
            throw child.Failure($"ended with exit code {child.ExitCode}");
        }
    }

    /// <summary>Waits until the program has ended.</summary>
    public Task WaitForExitAsync(CancellationToken cancellationToken) => _process.WaitForExitAsync(cancellationToken);

    /// <summary>Waits until the program has written a line that shows that it is ready.</summary>
    /// <param name="isReady">Receives every complete line, in order.</param>
    /// <param name="cancellationToken">Cancels the wait; the program keeps running.</param>
    /// <exception cref="StackException">The program ended, or was not ready within the time limit.</exception>
    public async Task WaitForOutputAsync(
        Func<string, bool> isReady, TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var log = new LogReader(LogFile, _logStart);
        await WaitUntilAsync(
            _ =>
            {
                while (log.ReadLine() is { } line)
                {
                    if (isReady(line))
                    {
                        return Task.FromResult(true);
                    }
                }
                return Task.FromResult(false);
            },
            timeout,
            cancellationToken);
    }

    /// <summary>Waits until a probe reports that the program is ready.</summary>
    /// <param name="probe">Is called repeatedly until it returns true; an exception from it ends the wait.</param>
    /// <param name="cancellationToken">Cancels the wait; the program keeps running.</param>
    /// <exception cref="StackException">The program ended, or was not ready within the time limit.</exception>
    public Task WaitUntilAsync(
        Func<CancellationToken, Task<bool>> probe, TimeSpan timeout, CancellationToken cancellationToken) =>
        WithinAsync(timeout, "was not ready", async token =>
        {
            using var poll = new PeriodicTimer(PollInterval);
            while (true)
            {
                // Read before the probe, so that output just before the end of the program still counts.
                var ended = _process.HasExited;
                if (await probe(token))
                {
                    return;
                }

                if (ended)
                {
                    throw Failure($"ended with exit code {_process.ExitCode} before it was ready");
                }

                await poll.WaitForNextTickAsync(token);
            }
        }, cancellationToken);

    /// <summary>Waits until the program answers a request with success.</summary>
    /// <param name="cancellationToken">Cancels the wait; the program keeps running.</param>
    /// <exception cref="StackException">The program ended, or was not ready in time.</exception>
    public async Task WaitUntilAnsweredAsync(string address, CancellationToken cancellationToken)
    {
        // One connection for all requests: a new one for each takes processor time that the starting programs need.
        using var http = new HttpClient();
        await WaitUntilAsync(
            async token =>
            {
                try
                {
                    using var response = await http.GetAsync(new Uri(address), token);
                    return response.IsSuccessStatusCode;
                }
                catch (HttpRequestException)
                {
                    return false;
                }
            },
            Patience, cancellationToken);
    }

    /// <summary>Sends the program its stop signal, and kills it if it has not ended in time.</summary>
    /// <returns>Whether it ended without being killed.</returns>
    public async Task<bool> StopAsync(TimeSpan bound)
    {
        Send(_start.StopSignal);
        Send(Signal.Continue);
        using var timeout = new CancellationTokenSource(bound, TimeProvider.System);
        try
        {
            await _process.WaitForExitAsync(timeout.Token);
            return true;
        }
        catch (OperationCanceledException)
        {
            Kill();
            await _process.WaitForExitAsync(CancellationToken.None);
            return false;
        }
    }

    /// <summary>Sends the program a signal.</summary>
    public void Send(Signal signal)
    {
        if (!_process.HasExited)
        {
            NativeMethods.Send(_process.Id, signal);
        }
    }

    /// <summary>Kills the program, as <c>kill -9</c> does.</summary>
    public void Kill() => Send(Signal.Kill);

    /// <summary>Kills the program and every process that it started, as the end of its machine does.
    /// Without their postmaster, sessions of PostgreSQL end only when they next wait for it.</summary>
    public void KillAll() => _process.Kill(entireProcessTree: true);

    /// <summary>Pauses the program: its connections stay open, but nothing is answered.</summary>
    public void Pause() => Send(Signal.Stop);

    /// <summary>Resumes a paused program.</summary>
    public void Resume() => Send(Signal.Continue);

    /// <summary>Returns the last lines that the program has logged since it was started.</summary>
    public IReadOnlyList<string> LastLogLines(int count)
    {
        if (!File.Exists(LogFile))
        {
            return [];
        }
        using var log = new FileStream(LogFile, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        log.Position = Math.Max(_logStart, log.Length - LongestTail);
        using var reader = new StreamReader(log);
        return [.. reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries).TakeLast(count)];
    }

    /// <summary>Kills the program, unless it is detached, and waits for its end.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_start.Detached)
        {
            Kill();
            await _process.WaitForExitAsync(CancellationToken.None);
        }

        _process.Dispose();
    }

    /// <summary>Returns an exception with the program's name, the cause and its last log lines.</summary>
    /// <param name="cause">The cause, which follows the program's name in the message.</param>
    public StackException Failure(string cause)
    {
        var lines = LastLogLines(LinesInMessages);
        var log = lines.Count == 0
            ? $"Its log {LogFile} is empty."
            : $"The end of {LogFile}:\n  {string.Join("\n  ", lines)}";
        return new StackException($"{Name} {cause}. {log}");
    }

    /// <summary>Starts a program from the thread whose end sends the parent-death signal to this process's
    /// children.</summary>
    /// <param name="information">The program to start; the caller disposes of the process.</param>
    /// <exception cref="StackException">It could not be started.</exception>
    public static Process Launch(ProcessStartInfo information)
    {
        var launch = new Task<Process>(() => Process.Start(information)!);
        Launches.Add(launch);
        try
        {
            return launch.GetAwaiter().GetResult();
        }
        catch (Win32Exception e)
        {
            throw new StackException($"{information.FileName} could not be started: {e.Message}", e);
        }
    }

    private static List<string> CommandLine(ChildProcessStart start)
    {
        var join = string.Concat((start.Group?.Members ?? []).Select(file => $"echo $$ >'{file}' && "));
        List<string> line = ["-c", join + OpenLog, start.LogFile, "setsid"];
        if (start.Account is not null || !start.Detached)
        {
            line.Add("setpriv");
        }
        if (start.Account is { } account)
        {
            line.AddRange([$"--reuid={account.UserId}", $"--regid={account.GroupId}", "--clear-groups"]);
        }
        if (!start.Detached)
        {
            line.AddRange(
                [
                    "--pdeathsig=" + ShellName(start.OrphanSignal), "/bin/sh", "-c",
                    CheckParent, Environment.ProcessId.ToString(),
                ]);
        }
        return [.. line, start.Program, .. start.Arguments];
    }

    private static string ShellName(Signal signal) => signal switch
    {
        Signal.Interrupt => "INT",
        Signal.Kill => "KILL",
        Signal.Terminate => "TERM",
        _ => throw new ArgumentOutOfRangeException(nameof(signal), signal, "Does not end a program"),
    };

    private static BlockingCollection<Task> StartLaunchThread()
    {
        var launches = new BlockingCollection<Task>();
        new Thread(() =>
        {
            foreach (var launch in launches.GetConsumingEnumerable())
            {
                NativeMethods.WithInterrupt(launch.RunSynchronously);
            }
        })
        { IsBackground = true, Name = "Billing child processes" }.Start();
        return launches;
    }

    private async Task WithinAsync(
        TimeSpan timeout, string cause, Func<CancellationToken, Task> action, CancellationToken cancellationToken)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(timeout);
        try
        {
            await action(bound.Token);
        }
        catch (OperationCanceledException) when (bound.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw Failure($"{cause} within {timeout.TotalSeconds} s");
        }
    }
}
