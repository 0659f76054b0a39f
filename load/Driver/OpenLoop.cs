using System.Runtime.ExceptionServices;

namespace Billing.Driver;

/// <summary>Sends requests when they are due, independent of earlier answers: the load does not decrease when the
/// system slows down.</summary>
internal sealed class OpenLoop(Schedule schedule, TimeProvider time)
{
    // The timer need not be finer than the scheduler: requests that become due between two ticks are sent together.
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(1);

    private readonly TaskCompletionSource _answered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Exception? _failure;
    private int _inFlight = 1;

    /// <summary>Sends requests and waits for their outcomes, in memory that does not grow with their number.</summary>
    /// <param name="start">The timestamp (<see cref="TimeProvider.GetTimestamp"/>) of the start.</param>
    /// <param name="send">Sends a request, given its number from 0, the time after the start at which it is due, and
    /// its phase; its task ends when the request is answered or has failed. Called from one thread at a time.</param>
    /// <param name="stopping">Stops sending; requests in flight are still awaited.</param>
    /// <exception cref="Exception">The first exception that <paramref name="send"/> threw.</exception>
    public async Task RunAsync(long start, Func<long, TimeSpan, int, Task> send, CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Tick, time);
        var number = 0L;
        foreach (var (due, phase) in schedule.Requests())
        {
            // Requests that became due while this loop was late are sent too, and the delay counts as latency.
            while (due > time.GetElapsedTime(start) && !stopping.IsCancellationRequested)
            {
                await timer.WaitForNextTickAsync(CancellationToken.None);
            }
            if (stopping.IsCancellationRequested)
            {
                break;
            }
            _ = AwaitAsync(send(number++, due, phase));
        }
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
