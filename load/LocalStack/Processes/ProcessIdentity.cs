
namespace Billing.LocalStack.Processes;

/// <summary>
/// Identifies a process of this machine, also after its process id was reused. Consists of two numbers, which can be
/// saved and used by another process.</summary>
/// <param name="StartTicks">Its start time in clock ticks since boot; 0 if it had already ended.</param>
public sealed record ProcessIdentity(int Id, long StartTicks)
{
    /// <summary>Whether this process still runs. A zombie does not.</summary>
    public bool IsRunning => StartTicks != 0 && ReadStartTicks(Id) == StartTicks;

    /// <summary>Returns the identity of the process that currently has an id.</summary>
    public static ProcessIdentity Of(int processId) => new(processId, ReadStartTicks(processId));

    /// <summary>Sends the process a stop signal, and kills it if it has not ended in time.</summary>
    /// <exception cref="StackException">The process belongs to another user.</exception>
    public async Task StopAsync(Signal signal, TimeSpan bound)
    {
        if (!IsRunning)
        {
            return;
        }

        NativeMethods.Send(Id, signal);
        using var timeout = new CancellationTokenSource(bound, TimeProvider.System);
        try
        {
            await WaitForEndAsync(timeout.Token);
        }
        catch (OperationCanceledException)
        {
            if (IsRunning)
            {
                NativeMethods.Send(Id, Signal.Kill);
            }

            await WaitForEndAsync(CancellationToken.None);
        }
    }

    /// <summary>Waits until the process has ended.</summary>
    public Task WaitForEndAsync(CancellationToken cancellationToken) =>
        Poll.LastAsync(() => Task.FromResult(IsRunning), isRunning => !isRunning, TimeSpan.MaxValue, cancellationToken);

    /// <summary>Returns the ids of the child processes of a process that still run.</summary>
    public static IReadOnlyList<int> ChildrenOf(int processId)
    {
        var parent = processId.ToString();
        return
        [
            .. Directory.EnumerateDirectories("/proc").Select(Path.GetFileName)
                .Select(name => int.TryParse(name, out var id) ? id : 0)
                .Where(id => id != 0 && ReadStat(id) is [not ("Z" or "X"), var itsParent, ..] && itsParent == parent),
        ];
    }

    private static long ReadStartTicks(int processId) =>
        ReadStat(processId) is [not ("Z" or "X"), ..] and var fields ? long.Parse(fields[19]) : 0;

    // The second field, the program's name, may contain any character. Returns the fields from the third:
    // state, parent, ...
    private static string[] ReadStat(int processId)
    {
        try
        {
            var stat = File.ReadAllText($"/proc/{processId}/stat");
            return stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}
