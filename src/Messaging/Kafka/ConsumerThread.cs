using Billing.Messaging.Hosting;

namespace Billing.Messaging.Kafka;

/// <summary>A thread of its own, under the <see cref="Supervisor"/>, for a consumer, whose calls block.</summary>
/// <param name="supervisor">Is told where the loop fails.</param>
/// <param name="name">What it calls the loop.</param>
internal sealed class ConsumerThread(Supervisor supervisor, string name) : IDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;

    /// <summary>Cancelled when the loop is to end.</summary>
    public CancellationToken Stopping => _stopping.Token;

    /// <summary>Starts the loop.</summary>
    public void Start(Action loop) => _loop = Task.Factory.StartNew(
        () => supervisor.RunAsync(name, _ => Run(loop), Stopping),
        CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap();

    /// <summary>Tells the loop to end and waits until it has.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await _loop;
    }

    public void Dispose() => _stopping.Dispose();

    private static Task Run(Action loop)
    {
        loop();
        return Task.CompletedTask;
    }
}
