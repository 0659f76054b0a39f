using System.Collections.Concurrent;
using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace Billing.LocalStack.Processes;

/// <summary>
/// A program of the stack, started by this process. It has a log file of its own, no terminal, and, unless detached, no
/// life beyond this process's. Disposal kills it, unless detached.
/// </summary>
public sealed class ChildProcess : IAsyncDisposable
{
    private const int LinesInMessages = 15;
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(50);

    // The outer shell opens the log while still this process's user. setsid keeps the terminal's Ctrl-C away: this
    // process hears it and stops its children in order. The kernel's parent-death signal covers every end of this
    // process, kill -9 included; it is set after any change of user, which would clear it, and the inner shell covers
    // the moment before it was set. All of them exec, so the program has the id that Process knows.
    private const string OpenLog = "exec >>\"$0\" 2>&1 </dev/null && exec \"$@\"";
    private const string CheckParent = "[ \"$PPID\" = \"$0\" ] && exec \"$@\"";

    // The parent-death signal is sent at the end of the *thread* that started the child. Pool threads end when they
    // please, so one thread that lives as long as the process starts all children.
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

    /// <summary>What finds the program again from another process, for a detached one.</summary>
    public ProcessIdentity Identity { get; }

    /// <summary>The program's name within the stack.</summary>
    public string Name => _start.Name;

    /// <summary>What was started, and how: enough to start it again.</summary>
    public ChildProcessStart Started => _start;

    /// <summary>The absolute path of its log.</summary>
    public string LogFile => _start.LogFile;

    /// <summary>Whether it has ended.</summary>
    public bool HasExited => _process.HasExited;

    /// <summary>Its exit code, 128 + n when signal n ended it; null while it runs.</summary>
    public int? ExitCode => _process.HasExited ? _process.ExitCode : null;

    /// <summary>Starts a program. It may not be ready for anything yet.</summary>
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
    /// <param name="start">What to run.</param>
    /// <param name="timeout">How long it may take.</param>
    /// <param name="cancellationToken">Kills it.</param>
    /// <exception cref="StackException">It failed, or took too long and was killed.</exception>
    public static async Task RunAsync(ChildProcessStart start, TimeSpan timeout, CancellationToken cancellationToken)
    {
        await using var child = Start(start);
        await child.WithinAsync(timeout, "did not finish", child.WaitForExitAsync, cancellationToken)
            .ConfigureAwait(false);
        if (child.ExitCode != 0)
        {
            throw child.Failure($"ended with exit code {child.ExitCode}");
        }
    }

    /// <summary>Waits until the program has ended.</summary>
    public Task WaitForExitAsync(CancellationToken cancellationToken) => _process.WaitForExitAsync(cancellationToken);

    /// <summary>Waits until the program has written a line that shows it to be ready.</summary>
    /// <param name="isReady">Is shown every complete line, in order.</param>
    /// <param name="timeout">How long that may take.</param>
    /// <param name="cancellationToken">Gives up waiting; the program goes on.</param>
    /// <exception cref="StackException">The program ended instead, or took too long.</exception>
    public async Task WaitForOutputAsync(
        Func<string, bool> isReady, TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var log = new LogReader(_start.LogFile, _logStart);
        await WaitUntilAsync(async token =>
        {
            while (await log.ReadLineAsync(token).ConfigureAwait(false) is { } line)
            {
                if (isReady(line))
                {
                    return true;
                }
            }

            return false;
        }, timeout, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Waits until a probe says that the program is ready.</summary>
    /// <param name="probe">Is asked again and again until it returns true; what it throws ends the wait.</param>
    /// <param name="timeout">How long that may take.</param>
    /// <param name="cancellationToken">Gives up waiting; the program goes on.</param>
    /// <exception cref="StackException">The program ended instead, or took too long.</exception>
    public Task WaitUntilAsync(
        Func<CancellationToken, Task<bool>> probe, TimeSpan timeout, CancellationToken cancellationToken) =>
        WithinAsync(timeout, "was not ready", async token =>
        {
            using var poll = new PeriodicTimer(PollInterval);
            while (true)
            {
                // Taken before the probe, so that what the program did in its last moment still counts.
                var ended = _process.HasExited;
                if (await probe(token).ConfigureAwait(false))
                {
                    return;
                }

                if (ended)
                {
                    throw Failure($"ended with exit code {_process.ExitCode} before it was ready");
                }

                await poll.WaitForNextTickAsync(token).ConfigureAwait(false);
            }
        }, cancellationToken);

    /// <summary>Asks the program to end, and kills it when it has not done so in time.</summary>
    /// <param name="bound">How long it may take.</param>
    /// <returns>Whether it ended by itself.</returns>
    public async Task<bool> StopAsync(TimeSpan bound)
    {
        Send(_start.StopSignal);
        Send(Signal.Continue);
        using var timeout = new CancellationTokenSource(bound, TimeProvider.System);
        try
        {
            await _process.WaitForExitAsync(timeout.Token).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            Kill();
            await _process.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false);
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

    /// <summary>Ends the program at once, as <c>kill -9</c> does.</summary>
    public void Kill() => Send(Signal.Kill);

    /// <summary>Freezes the program: its connections stay open and answer nothing.</summary>
    public void Pause() => Send(Signal.Stop);

    /// <summary>Lets a frozen program go on.</summary>
    public void Resume() => Send(Signal.Continue);

    /// <summary>The last lines of what the program has written since it was started.</summary>
    /// <param name="count">How many at most.</param>
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
            await _process.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false);
        }

        _process.Dispose();
    }

    /// <summary>An exception that names the program, the cause and its last log lines.</summary>
    /// <param name="cause">The cause, to be read after the program's name.</param>
    public StackException Failure(string cause)
    {
        var lines = LastLogLines(LinesInMessages);
        var log = lines.Count == 0
            ? $"Its log {LogFile} is empty."
            : $"The end of {LogFile}:{Environment.NewLine}  {string.Join(Environment.NewLine + "  ", lines)}";
        return new StackException($"{Name} {cause}. {log}");
    }

    /// <summary>Starts a program from the one thread at whose end the children of this process end.</summary>
    /// <param name="information">How; the caller disposes of the process.</param>
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
            await action(either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (expiry.IsCancellationRequested &&
                                                 !cancellationToken.IsCancellationRequested)
        {
            throw Failure(string.Create(CultureInfo.InvariantCulture, $"{cause} within {timeout.TotalSeconds} s"));
        }
    }
}
