using System.Runtime.ExceptionServices;

namespace Billing.Measuring.Driving;

/// <summary>Sends requests when they are due, independent of earlier answers: the load does not decrease when the system slows
/// down.</summary>
internal sealed class OpenLoop(Arrivals arrivals, TimeProvider time)
{
    // The timer need not be finer than the scheduler: requests that become due between two ticks are sent together.
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(1);

    private readonly TaskCompletionSource _answered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Exception? _failure;
    private int _inFlight = 1;

    /// <summary>The timestamp (<see cref="TimeProvider.GetTimestamp"/>) at which the first request is due.</summary>
    public long Start { get; } = time.GetTimestamp();

    /// <summary>Sends requests and waits for their outcomes, in memory that does not grow with their number.</summary>
    /// <param name="requests">Number of requests.</param>
    /// <param name="send">Sends a request, given its number from 0 and the time after <see cref="Start"/> at which it is due; its
    /// task ends when the request is answered or has failed. Called from one thread at a time.</param>
    /// <param name="stopping">Stops sending; requests in flight are still awaited.</param>
    /// <exception cref="Exception">The first exception that <paramref name="send"/> threw.</exception>
    public async Task RunAsync(long requests, Func<long, TimeSpan, Task> send, CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Tick, time);
        var sent = 0L;
        do
        {
            // Requests that became due while this loop was late are sent too, and the delay counts as latency.
            for (var due = Math.Min(requests, arrivals.DueBy(time.GetElapsedTime(Start))); sent < due && !stopping.IsCancellationRequested; sent++)
            {
                _ = AwaitAsync(send(sent, arrivals.TimeOf(sent)));
            }
        }
        while (sent < requests && !stopping.IsCancellationRequested && await timer.WaitForNextTickAsync(CancellationToken.None));
        Leave();
        await _answered.Task;
        if (_failure is not null)
        {
            ExceptionDispatchInfo.Throw(_failure);
        }
    }

    private async Task AwaitAsync(Task request)
    {
        Interlocked.Increment(ref _inFlight);
        try
        {
            await request;
        }
        catch (Exception e)
        {
            Interlocked.CompareExchange(ref _failure, e, null);
        }
        Leave();
    }

    private void Leave()
    {
        if (Interlocked.Decrement(ref _inFlight) == 0)
        {
            _answered.SetResult();
        }
    }
}
