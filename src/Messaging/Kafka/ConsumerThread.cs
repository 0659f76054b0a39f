namespace Billing.Messaging.Kafka;

/// <summary>A thread of its own for a consumer, whose calls block.</summary>
internal sealed class ConsumerThread : IDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;

    public ConsumerThread() => Stopping = _stopping.Token;

    /// <summary>Cancelled when the loop is to end.</summary>
    public CancellationToken Stopping { get; }

    /// <summary>Starts the loop.</summary>
    public void Start(Action loop) =>
        _loop = Task.Factory.StartNew(loop, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    /// <summary>Tells the loop to end and waits until it has.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await _loop;
    }

    public void Dispose() => _stopping.Dispose();
}
