using Billing.Driver;
using Billing.Misuse.Connections;

namespace Billing.Misuse.Attacks;

/// <summary>A step of an attack on one connection. It ends early when the proxy has ended the connection.</summary>
/// <param name="connection">The connection.</param>
/// <param name="end">The end of the attack.</param>
internal delegate Task Step(HostileConnection connection, CancellationToken end);

/// <summary>What attacks are made of.</summary>
internal static class Steps
{
    /// <summary>Reads from now on what the proxy sends. What is never read stays with the proxy.</summary>
    public static Step Read { get; } = (connection, _) =>
    {
        connection.Read();
        return Task.CompletedTask;
    };

    /// <summary>Waits until the proxy ends the connection, or the attack ends.</summary>
    public static Step Hold { get; } = (connection, end) => connection.Over.WaitAsync(end);

    /// <summary>Says that nothing more is sent.</summary>
    public static Step EndSending { get; } = (connection, _) =>
    {
        connection.EndSending();
        return Task.CompletedTask;
    };

    /// <summary>Closes the connection in order; the caller makes another one.</summary>
    public static Step Close { get; } = (connection, _) =>
    {
        connection.Close(resets: false);
        return Task.CompletedTask;
    };

    /// <summary>Resets the connection; the caller makes another one.</summary>
    public static Step Reset { get; } = (connection, _) =>
    {
        connection.Close(resets: true);
        return Task.CompletedTask;
    };

    /// <summary>One step after the other.</summary>
    public static Step Sequence(params Step[] steps) => async (connection, end) =>
    {
        foreach (var step in steps)
        {
            if (connection.Over.IsCompleted)
            {
                return;
            }
            await step(connection, end);
        }
    };

    /// <summary>Sends bytes.</summary>
    public static Step Send(Func<HostileConnection, byte[]> bytes) =>
        (connection, end) => connection.SendAsync(bytes(connection), end);

    /// <summary>Sends bytes, one at a time.</summary>
    /// <param name="perSecond">Bytes per second, above 0.</param>
    public static Step Drip(double perSecond, Func<HostileConnection, byte[]> bytes) => async (connection, end) =>
    {
        var pace = new Pace(perSecond, TimeProvider.System);
        var all = bytes(connection);
        for (var i = 0; i < all.Length && !connection.Over.IsCompleted; i++)
        {
            await pace.TakeTurnAsync(end);
            await connection.SendAsync(all.AsMemory(i, 1), end);
        }
    };

    /// <summary>Does a step until the end.</summary>
    /// <param name="perSecond">Times per second, above 0; null for as often as the proxy takes it.</param>
    public static Step Repeat(Step step, double? perSecond = null) => async (connection, end) =>
    {
        var pace = perSecond is { } rate ? new Pace(rate, TimeProvider.System) : null;
        while (!connection.Over.IsCompleted)
        {
            end.ThrowIfCancellationRequested();
            if (pace is not null)
            {
                await pace.TakeTurnAsync(end);
            }
            await step(connection, end);
        }
    };

    /// <summary>Opens the streams of the layout, with a step on each; over HTTP/1.1, that many requests.</summary>
    public static Step Each(Step step) => async (connection, end) =>
    {
        for (var i = 0; i < connection.Streams && !connection.Over.IsCompleted; i++)
        {
            await New(step)(connection, end);
        }
    };

    /// <summary>Opens one more stream, with a step on it.</summary>
    public static Step New(Step step) => (connection, end) =>
    {
        connection.OpenStream();
        return step(connection, end);
    };

    /// <summary>Does a step on each stream that is open. When the proxy has ended all of them, the connection is
    /// closed, and the caller makes another one.</summary>
    public static Step Round(Step step) => async (connection, end) =>
    {
        var open = connection.Opened.Where(stream => !connection.HasEnded(stream)).ToList();
        foreach (var stream in open)
        {
            if (connection.Over.IsCompleted)
            {
                return;
            }
            connection.StreamId = stream;
            await step(connection, end);
        }
        if (open.Count == 0)
        {
            connection.Close(resets: false);
        }
    };
}
