using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>A load-generating program as a separate process, controlled over its standard streams: it writes <c>ready</c> after
/// its warm-up, begins when it reads <c>go</c>, and writes <c>done N</c> as its progress. At the end of its standard input it
/// stops early and gracefully.</summary>
public sealed class ControlledProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly string _name;
    private readonly TaskCompletionSource _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task _reading;
    private readonly Task<string> _errors;
    private int _done;

    private ControlledProcess(Process process, string name)
    {
        _process = process;
        _name = name;
        _reading = ReadAsync();
        _errors = process.StandardError.ReadToEndAsync();
    }

    /// <summary>The progress that the program last reported.</summary>
    public int Done => Volatile.Read(ref _done);

    /// <param name="name">Its name in messages, e.g. <c>A client</c>.</param>
    public static ControlledProcess Start(string name, string project, IEnumerable<string> arguments) =>
        Start(name, DotnetProgram.StartInfo(project, arguments));

    /// <param name="start">The program to start; its standard streams are redirected.</param>
    public static ControlledProcess Start(string name, ProcessStartInfo start)
    {
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        return new ControlledProcess(ChildProcess.Launch(start), name);
    }

    /// <summary>Waits until the program has warmed up.</summary>
    /// <exception cref="StackException">It ended before that.</exception>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) => _ready.Task.WaitAsync(cancellationToken);

    /// <summary>Lets the program begin, and waits until it has ended.</summary>
    /// <exception cref="StackException">It failed.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        await _process.StandardInput.WriteLineAsync("go".AsMemory(), cancellationToken);
        await _process.StandardInput.FlushAsync(cancellationToken);
        await _reading.WaitAsync(cancellationToken);
        await _process.WaitForExitAsync(cancellationToken);
        if (_process.ExitCode != 0)
        {
            throw new StackException($"{_name} failed with exit code {_process.ExitCode}. {await _errors}");
        }
    }

    /// <summary>Stops the program early.</summary>
    public void EndInput() => _process.StandardInput.Close();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            await _process.WaitForExitAsync();
        }
        _process.Dispose();
    }

    private async Task ReadAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (line == "ready")
            {
                _ready.TrySetResult();
            }
            else if (line.StartsWith("done ", StringComparison.Ordinal))
            {
                Volatile.Write(ref _done, int.Parse(line.AsSpan(5)));
            }
        }
        _ready.TrySetException(new StackException($"{_name} ended before it was ready. {await _errors}"));
    }
}
