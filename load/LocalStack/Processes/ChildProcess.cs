using System.Collections.Concurrent;
using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace Billing.LocalStack.Processes;

/// <summary>
/// A program of the stack, started by this process. It has its own log file and no terminal. Unless it is detached, it is
/// killed on disposal and when this process ends.
/// </summary>
public sealed class ChildProcess : IAsyncDisposable
{
    /// <summary>The longest wait for a program to be ready, or to do a small task. Only for a program that hangs is it that long: a
    /// machine may be slow.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private const int LinesInMessages = 15;
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(50);

    // The outer shell opens the log while it still runs as this process's user. Because of setsid, Ctrl-C in the terminal only
    // reaches this process, which stops its children in order. The kernel's parent-death signal covers every end of this
    // process, including kill -9. It is set after any change of user, which would clear it; the inner shell detects an end of
    // this process before that. All of them exec, so that the program has the process id that Process knows.
    private const string OpenLog = "exec >>\"$0\" 2>&1 </dev/null && exec \"$@\"";
    private const string CheckParent = "[ \"$PPID\" = \"$0\" ] && exec \"$@\"";

    // The parent-death signal is sent at the end of the *thread* that started the child. Pool threads can end at any time, so
    // all children are started by one thread that lives as long as the process.
    private static readonly BlockingCollection<Action> Launches = StartLaunchThread();

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
        try
        {
            return new ChildProcess(start, Launch(information), logStart);
        }
        catch (Win32Exception exception)
        {
            throw new StackException($"{start.Name} could not be started: {exception.Message}", exception);
        }
    }

    /// <summary>Runs a program to its end.</summary>
    /// <param name="start">The program to run.</param>
    /// <param name="timeout">The time limit.</param>
    /// <param name="cancellationToken">Kills it.</param>
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
    /// <param name="timeout">The time limit.</param>
    /// <param name="cancellationToken">Cancels the wait; the program keeps running.</param>
    /// <exception cref="StackException">The program ended, or was not ready within the time limit.</exception>
    public async Task WaitForOutputAsync(
        Func<string, bool> isReady, TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var log = new LogReader(_start.LogFile, _logStart);
        await WaitUntilAsync(async token =>
        {
            while (await log.ReadLineAsync(token) is { } line)
            {
                if (isReady(line))
                {
                    return true;
                }
            }

            return false;
        }, timeout, cancellationToken);
    }

    /// <summary>Waits until a probe reports that the program is ready.</summary>
    /// <param name="probe">Is called repeatedly until it returns true; an exception from it ends the wait.</param>
    /// <param name="timeout">The time limit.</param>
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

    /// <summary>Sends the program its stop signal, and kills it if it has not ended in time.</summary>
    /// <param name="bound">The time limit.</param>
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

    /// <summary>Pauses the program: its connections stay open, but nothing is answered.</summary>
    public void Pause() => Send(Signal.Stop);

    /// <summary>Resumes a paused program.</summary>
    public void Resume() => Send(Signal.Continue);

    /// <summary>Returns the last lines that the program has logged since it was started.</summary>
    /// <param name="count">The maximum number of lines.</param>
    public IReadOnlyList<string> LastLogLines(int count)
    {
        if (!File.Exists(_start.LogFile))
        {
            return [];
        }

        using var log = new LogReader(_start.LogFile, _logStart);
        return log.LastLines(count);
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
            : $"The end of {LogFile}:{Environment.NewLine}  {string.Join(Environment.NewLine + "  ", lines)}";
        return new StackException($"{Name} {cause}. {log}");
    }

    /// <summary>Starts a program from the thread whose end sends the parent-death signal to this process's children.</summary>
    /// <param name="information">The program to start; the caller disposes of the process.</param>
    /// <exception cref="Win32Exception">It could not be started.</exception>
    public static Process Launch(ProcessStartInfo information)
    {
        var launched = new TaskCompletionSource<Process>(TaskCreationOptions.RunContinuationsAsynchronously);
        Launches.Add(() =>
        {
            try
            {
                launched.SetResult(Process.Start(information)!);
            }
            catch (Exception exception) when (exception is Win32Exception or InvalidOperationException)
            {
                launched.SetException(exception);
            }
        });
        return launched.Task.GetAwaiter().GetResult();
    }

    private static List<string> CommandLine(ChildProcessStart start)
    {
        List<string> line = ["-c", OpenLog, start.LogFile, "setsid"];
        if (start.Detached && start.Account is null)
        {
            return [.. line, start.Program, .. start.Arguments];
        }

        line.Add("setpriv");
        if (start.Account is { } account)
        {
            line.AddRange([$"--reuid={account.UserId}", $"--regid={account.GroupId}", "--clear-groups"]);
        }

        if (!start.Detached)
        {
            var parent = Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
            line.Add("--pdeathsig=" + ShellName(start.OrphanSignal));
            line.AddRange(["/bin/sh", "-c", CheckParent, parent]);
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

    private static BlockingCollection<Action> StartLaunchThread()
    {
        var launches = new BlockingCollection<Action>();
        var thread = new Thread(() =>
        {
            foreach (var launch in launches.GetConsumingEnumerable())
            {
                launch();
            }
        })
        { IsBackground = true, Name = "Billing child processes" };
        thread.Start();
        return launches;
    }

    private async Task WithinAsync(
        TimeSpan timeout, string cause, Func<CancellationToken, Task> action, CancellationToken cancellationToken)
    {
        using var expiry = new CancellationTokenSource(timeout, TimeProvider.System);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(expiry.Token, cancellationToken);
        try
        {
            await action(either.Token);
        }
        catch (OperationCanceledException) when (expiry.IsCancellationRequested &&
                                                 !cancellationToken.IsCancellationRequested)
        {
            throw Failure(string.Create(CultureInfo.InvariantCulture, $"{cause} within {timeout.TotalSeconds} s"));
        }
    }
}
