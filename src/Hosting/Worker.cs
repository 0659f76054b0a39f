using Microsoft.Extensions.Hosting;

namespace Billing.Hosting;

/// <summary>A hosted service that runs one loop under the <see cref="Supervisor"/> from the host's
/// start to its stop.</summary>
public abstract class Worker(Supervisor supervisor) : IHostedService, IDisposable
{
    // Not disposed, which would fail a loop that still looks at it.
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;

    /// <summary>Runs the loop.</summary>
    /// <param name="stopping">Cancelled when the loop must end. If it ends before or throws, the process fails.</param>
    public abstract Task RunAsync(CancellationToken stopping);

    /// <summary>Starts the loop.</summary>
    public virtual Task StartAsync(CancellationToken cancellationToken)
    {
        _running = Task.Run(
            () => supervisor.RunAsync(GetType().Name, RunAsync, _stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    /// <summary>Requests the loop to end and waits for it, at most until the host's shutdown timeout.</summary>
    public virtual async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _running.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Requests the loop to end if it still runs, as after a start that failed.</summary>
    public void Dispose()
    {
        _stopping.Cancel();
        GC.SuppressFinalize(this);
    }

    /// <summary>Runs a loop whose calls block on a thread of its own.</summary>
    protected static Task RunOnThread(Action loop) =>
        Task.Factory.StartNew(loop, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
}
