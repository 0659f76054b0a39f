using Billing.Messaging.Hosting;

namespace Billing.Messaging.Kafka;

/// <summary>Runs a consumer, whose calls block, on its own thread under the <see cref="Supervisor"/>.</summary>
internal sealed class ConsumerThread : IDisposable
{
    private readonly Supervisor _supervisor;
    private readonly string _name;
    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;

    /// <param name="supervisor">Runs the loop and handles its failure.</param>
    /// <param name="name">The name of the loop in the log.</param>
    public ConsumerThread(Supervisor supervisor, string name)
    {
        _supervisor = supervisor;
        _name = name;
        Stopping = _stopping.Token;
    }

    /// <summary>Cancelled when the loop must end.</summary>
    public CancellationToken Stopping { get; }

    /// <summary>Starts the loop.</summary>
    public void Start(Action loop) => _loop = Task.Factory.StartNew(
        () => _supervisor.RunAsync(_name, _ => Run(loop), Stopping),
        CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap();

    /// <summary>Requests the loop to end and waits for it.</summary>
    public async Task StopAsync()
    {
        await _stopping.CancelAsync();
        await _loop;
    }

    /// <summary>Requests the loop to end if it runs, as after a start that failed.</summary>
    public void Dispose()
    {
        if (!Stopping.IsCancellationRequested)
        {
            _stopping.Cancel();
        }
        _stopping.Dispose();
    }

    private static Task Run(Action loop)
    {
        loop();
        return Task.CompletedTask;
    }
}
