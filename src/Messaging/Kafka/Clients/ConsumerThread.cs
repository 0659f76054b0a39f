using Billing.Hosting;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Runs a consumer, whose calls block, on its own thread under the <see cref="Supervisor"/>.</summary>
/// <param name="supervisor">Runs the loop and handles its failure.</param>
/// <param name="name">The name of the loop in the log.</param>
internal sealed class ConsumerThread(Supervisor supervisor, string name) : IDisposable
{
    // Not disposed, which would fail a loop that still looks at it.
    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;

    /// <summary>Cancelled when the loop must end.</summary>
    public CancellationToken Stopping => _stopping.Token;

    /// <summary>Starts the loop.</summary>
    public void Start(Action loop) => _loop = Task.Factory.StartNew(
        () => supervisor.RunAsync(name, _ => Run(loop), Stopping),
        CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap();

    /// <summary>Requests the loop to end and waits for it.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await _loop;
    }

    /// <summary>Requests the loop to end if it runs, as after a start that failed.</summary>
    public void Dispose() => _stopping.Cancel();

    private static Task Run(Action loop)
    {
        loop();
        return Task.CompletedTask;
    }
}
