using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Billing.Driver;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Loads;

/// <summary>A load driver as a process of its own, controlled over its standard streams (see the program's
/// command <c>work</c>).</summary>
internal sealed class WorkerProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly Func<Task<byte[]>> _readResult;
    private readonly Func<Task>? _ended;
    private readonly TaskCompletionSource _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _finished = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task<string> _errors;
    private long _done;

    private WorkerProcess(Process process, Func<Task<byte[]>> readResult, Func<Task>? ended)
    {
        (_process, _readResult, _ended) = (process, readResult, ended);
        _errors = process.StandardError.ReadToEndAsync();
        _ = ReadAsync();
    }

    /// <summary>The process's id. It runs until this object is disposed of, so that its processor
    /// time can be read.</summary>
    public int Id => _process.Id;

    /// <summary>Number of requests answered or failed so far.</summary>
    public long Done => Interlocked.Read(ref _done);

    /// <summary>The command of the driver's program that lets it be controlled.</summary>
    public const string Command = "work";

    /// <summary>Starts a driver.</summary>
    /// <param name="start">Its program with <see cref="Command"/>, the file of its load and
    /// that of its results.</param>
    /// <param name="readResult">Reads the file of its results, when it has finished.</param>
    /// <param name="ended">Called at the end, however the driver has ended; null for nothing.</param>
    public static WorkerProcess Start(ProcessStartInfo start, Func<Task<byte[]>> readResult, Func<Task>? ended = null)
    {
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        return new WorkerProcess(ChildProcess.Launch(start), readResult, ended);
    }

    /// <summary>Starts a driver on this machine.</summary>
    /// <param name="folder">The folder for its files.</param>
    public static async Task<WorkerProcess> StartAsync(LoadSpec spec, string folder)
    {
        var (specFile, resultFile) = (Path.Combine(folder, "spec.json"), Path.Combine(folder, "result.json"));
        await File.WriteAllBytesAsync(specFile, BytesOf(spec));
        return Start(
            DotnetProgram.StartInfo("Billing.Driver", [Command, specFile, resultFile]),
            () => File.ReadAllBytesAsync(resultFile));
    }

    /// <summary>The content of the file of a load.</summary>
    public static byte[] BytesOf(LoadSpec spec) => JsonSerializer.SerializeToUtf8Bytes(spec, LoadJson.Default.LoadSpec);

    /// <summary>Waits until the driver has warmed up.</summary>
    /// <exception cref="StackException">It ended before that.</exception>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) => _ready.Task.WaitAsync(cancellationToken);

    /// <summary>Lets the driver begin, and waits for its results.</summary>
    /// <param name="enough">Ends its sending early.</param>
    /// <exception cref="StackException">It failed.</exception>
    public async Task<LoadResult> RunAsync(CancellationToken enough)
    {
        await using var stop = enough.Register(_process.StandardInput.Close);
        await _process.StandardInput.WriteLineAsync("go");
        await _process.StandardInput.FlushAsync(CancellationToken.None);
        await _finished.Task;
        return JsonSerializer.Deserialize(await _readResult(), LoadJson.Default.LoadResult)!;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            await _process.WaitForExitAsync();
        }
        _process.Dispose();
        await (_ended?.Invoke() ?? Task.CompletedTask);
    }

    private async Task ReadAsync()
    {
        while (await _process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (line == "ready")
            {
                _ready.TrySetResult();
            }
            else if (line == "finished")
            {
                _finished.TrySetResult();
            }
            else if (line.StartsWith("done ", StringComparison.Ordinal))
            {
                Interlocked.Exchange(ref _done, long.Parse(line.AsSpan(5), CultureInfo.InvariantCulture));
            }
        }
        var failure = new StackException($"A load driver ended before it was done. {await _errors}");
        _ready.TrySetException(failure);
        _finished.TrySetException(failure);
        // Who waits for one of the two has it.
        _ = (_ready.Task.Exception, _finished.Task.Exception);
    }
}
