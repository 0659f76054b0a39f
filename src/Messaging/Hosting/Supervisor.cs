using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Hosting;

/// <summary>Runs the loops that a process lives by. A loop that ends, or throws, without having been told to stop leaves the
/// process half deaf, whatever the other loops do; so that is one error line, the process is no longer ready, stops, and
/// exits with <see cref="Service.Failed"/>: whoever started it starts it again. Safe from any thread.</summary>
public sealed partial class Supervisor(IHostApplicationLifetime lifetime, ILogger<Supervisor> logger) : IDisposable
{
    private readonly CancellationTokenSource _failed = new();
    private int _failures;
    private volatile string? _whyFailed;

    /// <summary>Whether every loop goes on, or has ended because it was told to.</summary>
    public bool IsHealthy => !_failed.IsCancellationRequested;

    /// <summary>Which loop failed and why, for a person; null where none has.</summary>
    public string? WhyFailed => _whyFailed;

    /// <summary>Cancelled with the first failure: nothing that waits for a loop need wait any longer.</summary>
    public CancellationToken Failing => _failed.Token;

    /// <summary>Runs a loop to its end. The task never fails: what the loop throws is a failure of the process.</summary>
    /// <param name="loop">What the log calls it.</param>
    /// <param name="work">The loop.</param>
    /// <param name="stopping">Cancelled when the loop is to end.</param>
    public async Task RunAsync(string loop, Func<CancellationToken, Task> work, CancellationToken stopping)
    {
        try
        {
            await work(stopping);
            if (!stopping.IsCancellationRequested)
            {
                Fail(loop, new InvalidOperationException("It ended without having been told to."));
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // Told to stop.
        }
        catch (Exception e)
        {
            Fail(loop, e);
        }
    }

    /// <summary>Watches a task that nobody awaits.</summary>
    /// <param name="work">What the log calls it.</param>
    /// <param name="task">The task; that it is cancelled is no failure.</param>
    public void Watch(string work, Task task)
    {
        if (!task.IsCompletedSuccessfully)
        {
            _ = FailWithAsync(work, task);
        }
    }

    /// <summary>Ends the process: it cannot go on.</summary>
    /// <param name="loop">What failed, as the log calls it.</param>
    /// <param name="cause">Why.</param>
    public void Fail(string loop, Exception cause)
    {
        // What fails after the first failure mostly fails because of it.
        if (Interlocked.Increment(ref _failures) == 1)
        {
            _whyFailed = $"{loop} failed: {cause.Message}";
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
            // Whoever cancelled it knows.
        }
        catch (Exception e)
        {
            Fail(work, e);
        }
    }

    [LoggerMessage(1, LogLevel.Critical, "{Loop} failed; the process cannot go on and stops")]
    private partial void Failed(Exception cause, string loop);
}
