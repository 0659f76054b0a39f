using Billing.Driver;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Loads;

/// <summary>A load whose drivers have been started: they warm up independently, and begin at the same time.</summary>
internal sealed class RunningLoad(IReadOnlyList<WorkerProcess> workers) : IAsyncDisposable
{
    /// <summary>Receives the results of all drivers.</summary>
    public Action<IReadOnlyList<LoadResult>>? Finished { get; init; }

    /// <summary>Number of requests answered or failed so far.</summary>
    public long Done => workers.Sum(worker => worker.Done);

    /// <summary>The drivers as programs of the role <see cref="LoadFigures.Client"/>.</summary>
    public IReadOnlyCollection<(
        string Name, int ProcessId)> Programs => [.. workers.Select(worker => (LoadFigures.Client, worker.Id))];

    /// <summary>Waits until all drivers have warmed up.</summary>
    /// <exception cref="LocalStack.Processes.StackException">A driver failed.</exception>
    public Task WaitUntilReadyAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(workers.Select(worker => worker.WaitUntilReadyAsync(cancellationToken)));

    /// <summary>Lets all drivers begin, and waits for their results.</summary>
    /// <param name="programs">Programs whose processor time is measured meanwhile.</param>
    /// <param name="enough">Ends the sending early.</param>
    /// <exception cref="LocalStack.Processes.StackException">A driver failed.</exception>
    public async Task<LoadFigures> RunAsync(
        IReadOnlyCollection<(string Name, int ProcessId)> programs, CancellationToken enough)
    {
        var cpu = new CpuMeter([.. programs, .. Programs]);
        var results = await Task.WhenAll(workers.Select(worker => worker.RunAsync(enough)));
        var used = cpu.Elapsed();
        Finished?.Invoke(results);
        return LoadFigures.Of(results, used);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var worker in workers)
        {
            await worker.DisposeAsync();
        }
    }
}
