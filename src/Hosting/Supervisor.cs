using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Billing.Hosting;

/// <summary>Runs the essential loops of a process. If a loop throws, or ends without a stop request, the process can do
/// only part of its work. So one error is logged, the process is not ready any more, stops, and exits with
/// <see cref="Service.Failed"/>, so that the orchestrator restarts it. Thread-safe.</summary>
public sealed partial class Supervisor(IHostApplicationLifetime lifetime, ILogger<Supervisor> logger) : IDisposable
{
    private readonly CancellationTokenSource _failed = new();
    private int _failures;
    private volatile string? _whyFailed;

    /// <summary>Whether no loop has failed.</summary>
    public bool IsHealthy => !_failed.IsCancellationRequested;

    /// <summary>Which loop failed, for anybody who may ask: without the text of the exception, which is in the log;
    /// null if none has failed.</summary>
    public string? FailureReason => _whyFailed;

    /// <summary>Cancelled with the first failure, so that code which waits for a loop can stop waiting.</summary>
    public CancellationToken Failing => _failed.Token;

    /// <summary>Runs a loop to its end. The task never fails: an exception of the loop is a
    /// failure of the process.</summary>
    /// <param name="loop">The name of the loop in the log.</param>
    /// <param name="work">The loop.</param>
    /// <param name="stopping">Cancelled when the loop must end.</param>
    public async Task RunAsync(string loop, Func<CancellationToken, Task> work, CancellationToken stopping)
    {
        try
        {
            await work(stopping);
            if (!stopping.IsCancellationRequested)
            {
                Fail(loop, new InvalidOperationException("It ended without a stop request."));
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // A stop was requested.
        }
        catch (Exception e)
        {
            Fail(loop, e);
        }
    }

    /// <summary>Handles the failure of a task that no code awaits.</summary>
    /// <param name="work">The name of the task in the log.</param>
    /// <param name="task">The task; its cancellation is not a failure.</param>
    public void Watch(string work, Task task)
    {
        if (!task.IsCompletedSuccessfully)
        {
            _ = FailWithAsync(work, task);
        }
    }

    /// <summary>Stops the process because of a failure.</summary>
    /// <param name="loop">The name in the log of the part that failed.</param>
    /// <param name="cause">The cause.</param>
    public void Fail(string loop, Exception cause)
    {
        // Later failures are mostly caused by the first one.
        if (Interlocked.Increment(ref _failures) == 1)
        {
            _whyFailed = $"{loop} failed; the log says why";
            Failed(cause, loop);
            Environment.ExitCode = Service.Failed;
            _failed.Cancel();
            lifetime.StopApplication();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _failed.Dispose();

    private async Task FailWithAsync(string work, Task task)
    {
        try
        {
            await task;
        }
        catch (OperationCanceledException)
        {
            // Cancellation is not a failure.
        }
        catch (Exception e)
        {
            Fail(work, e);
        }
    }

    [LoggerMessage(1, LogLevel.Critical, "{Loop} failed; the process cannot go on and stops")]
    private partial void Failed(Exception cause, string loop);
}
