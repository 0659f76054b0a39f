namespace Billing.Rehearsal.Steps;

/// <summary>Waits for what a platform comes to by itself.</summary>
internal static class Polling
{
    /// <summary>Reads a state until it is as it should be, or for the last time.</summary>
    /// <returns>The last state that was read.</returns>
    public static async Task<T> LastAsync<T>(
        int attempts, TimeSpan interval, Func<Task<T>> read, Func<T, bool> isDone, CancellationToken cancellationToken)
    {
        using var pause = new PeriodicTimer(interval);
        for (var attempt = 1; ; attempt++)
        {
            var state = await read();
            if (isDone(state) || attempt == attempts)
            {
                return state;
            }
            await pause.WaitForNextTickAsync(cancellationToken);
        }
    }
}
