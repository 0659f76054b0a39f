using System.Globalization;

namespace Billing.LocalStack.Processes;

/// <summary>
/// A process of this machine, told from any later one that is given the same id. Can be written down (as the two numbers
/// it consists of) and used from another process.
/// </summary>
/// <param name="Id">The process id.</param>
/// <param name="StartTicks">When it started, in clock ticks since boot; 0 when it was gone already.</param>
public sealed record ProcessIdentity(int Id, long StartTicks)
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    /// <summary>Whether that very process still runs. A zombie does not.</summary>
    public bool IsRunning => StartTicks != 0 && ReadStartTicks(Id) == StartTicks;

    /// <summary>The identity of the process that now has an id.</summary>
    /// <param name="processId">The id.</param>
    public static ProcessIdentity Of(int processId) => new(processId, ReadStartTicks(processId));

    /// <summary>Asks the process to end, and kills it when it has not done so in time.</summary>
    /// <param name="signal">What asks it.</param>
    /// <param name="bound">How long it may take.</param>
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
            await WaitForEndAsync(timeout.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            if (IsRunning)
            {
                NativeMethods.Send(Id, Signal.Kill);
            }

            await WaitForEndAsync(CancellationToken.None).ConfigureAwait(false);
        }
    }

    /// <summary>Waits until the process has ended.</summary>
    public async Task WaitForEndAsync(CancellationToken cancellationToken)
    {
        using var poll = new PeriodicTimer(PollInterval);
        while (IsRunning)
        {
            await poll.WaitForNextTickAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>The ids of the processes that a process has started and that still run.</summary>
    /// <param name="processId">The parent's id.</param>
    internal static IReadOnlyList<int> ChildrenOf(int processId)
    {
        var parent = processId.ToString(CultureInfo.InvariantCulture);
        return
        [
            .. Directory.EnumerateDirectories("/proc").Select(Path.GetFileName)
                .Select(name => int.TryParse(name, CultureInfo.InvariantCulture, out var id) ? id : 0)
                .Where(id => id != 0 && ReadStat(id) is [not ("Z" or "X"), var itsParent, ..] && itsParent == parent),
        ];
    }

    private static long ReadStartTicks(int processId) =>
        ReadStat(processId) is [not ("Z" or "X"), ..] and var fields ? long.Parse(fields[19], CultureInfo.InvariantCulture) : 0;

    // The second field, the program's name, may hold anything; from the third on: the state, the parent, ..., the start.
    private static string[] ReadStat(int processId)
    {
        try
        {
            var stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{processId}/stat"));
            return stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}
