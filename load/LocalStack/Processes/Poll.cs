using System.Runtime.CompilerServices;

namespace Billing.LocalStack.Processes;

/// <summary>Waits for what comes about by itself, in the laboratory and in the tests.</summary>
public static class Poll
{
    /// <summary>The longest wait for something that must happen. Only a failing test waits so long:
    /// a machine may be many times slower than the one that the test was written on.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(20);

    /// <summary>Waits until a condition holds.</summary>
    /// <exception cref="TimeoutException">It does not hold within <see cref="Patience"/>.</exception>
    public static Task UntilAsync(
        Func<bool> holds, CancellationToken cancellationToken = default,
        [CallerArgumentExpression(nameof(holds))] string what = "") =>
        UntilAsync(() => Task.FromResult(holds()), cancellationToken, what);

    /// <summary>Waits until a condition holds.</summary>
    /// <exception cref="TimeoutException">It does not hold within <see cref="Patience"/>.</exception>
    public static Task UntilAsync(
        Func<Task<bool>> holds, CancellationToken cancellationToken = default,
        [CallerArgumentExpression(nameof(holds))] string what = "") =>
        UntilAsync(holds, static isSo => isSo, cancellationToken, what);

    /// <summary>Reads a state until it is as it should be.</summary>
    /// <returns>The state.</returns>
    /// <exception cref="TimeoutException">It is not so within <see cref="Patience"/>.</exception>
    public static async Task<T> UntilAsync<T>(
        Func<Task<T>> read, Func<T, bool> isDone, CancellationToken cancellationToken = default,
        [CallerArgumentExpression(nameof(isDone))] string what = "")
    {
        var last = await LastAsync(read, isDone, Patience, cancellationToken);
        return isDone(last) ? last : throw new TimeoutException($"Not within {Patience}: {what}; it is {last}.");
    }

    /// <summary>Reads a state until it is as it should be, or for the last time.</summary>
    /// <returns>The last state that was read.</returns>
    public static Task<T> LastAsync<T>(
        Func<Task<T>> read, Func<T, bool> isDone, TimeSpan bound, CancellationToken cancellationToken = default) =>
        LastAsync(read, isDone, bound, Interval, cancellationToken);

    /// <summary>Does the same with another interval between readings.</summary>
    public static async Task<T> LastAsync<T>(
        Func<Task<T>> read, Func<T, bool> isDone, TimeSpan bound, TimeSpan interval,
        CancellationToken cancellationToken = default)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var state = await read();
            if (isDone(state) || TimeProvider.System.GetElapsedTime(start) >= bound)
            {
                return state;
            }
            await Task.Delay(interval, cancellationToken);
        }
    }
}
