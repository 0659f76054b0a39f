using Microsoft.Extensions.Hosting;

namespace Billing.Messaging.Hosting;

/// <summary>A service that is one loop, run under the <see cref="Supervisor"/> from the host's start to its stop.</summary>
public abstract class Worker(Supervisor supervisor) : IHostedService, IDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;

    /// <summary>The loop.</summary>
    /// <param name="stopping">Cancelled when it is to end. To end before, or to throw, is to fail.</param>
    public abstract Task RunAsync(CancellationToken stopping);

    /// <summary>Starts the loop.</summary>
    public virtual Task StartAsync(CancellationToken cancellationToken)
    {
        _running = Task.Run(() => supervisor.RunAsync(GetType().Name, RunAsync, _stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    /// <summary>Tells the loop to end and waits until it has, or until the host's patience is over.</summary>
    public virtual async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _running.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Frees what the worker holds.</summary>
    protected virtual void Dispose(bool disposing) => _stopping.Dispose();
}
