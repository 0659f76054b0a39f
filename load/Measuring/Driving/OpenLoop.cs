using System.Runtime.ExceptionServices;

namespace Billing.Measuring.Driving;

/// <summary>Sends requests when they are due, whatever becomes of those before: a system that slows down is not spared by callers
/// who wait for it.</summary>
internal sealed class OpenLoop(Arrivals arrivals, TimeProvider time)
{
    // The timer need not be finer than the scheduler: what is due in between goes out together.
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(1);

    private readonly TaskCompletionSource _answered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Exception? _failure;
    private int _underWay = 1;

    /// <summary>When the first request is due, as <see cref="TimeProvider.GetTimestamp"/> has it.</summary>
    public long Start { get; } = time.GetTimestamp();

    /// <summary>Sends requests and waits for those that were sent, in memory that does not grow with their number.</summary>
    /// <param name="requests">How many.</param>
    /// <param name="send">Sends the request of a number, from 0, which is due so long after <see cref="Start"/>; ends when it is answered
    /// or has failed. Called from one thread at a time.</param>
    /// <param name="stopping">Sends no more; those under way are still waited for.</param>
    /// <exception cref="Exception">The first that <paramref name="send"/> threw.</exception>
    public async Task RunAsync(long requests, Func<long, TimeSpan, Task> send, CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Tick, time);
        var sent = 0L;
        do
        {
            // What became due while this loop was late goes out all the same, and its lateness counts.
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
        Interlocked.Increment(ref _underWay);
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
        if (Interlocked.Decrement(ref _underWay) == 0)
        {
            _answered.SetResult();
        }
    }
}
