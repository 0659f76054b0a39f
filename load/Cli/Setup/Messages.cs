using System.Diagnostics;
using System.Globalization;

namespace Billing.Cli.Setup;

/// <summary>What is said about the preparation of a command, on standard error and so beside the command's own output.</summary>
internal static class Messages
{
    /// <summary>Prints a line.</summary>
    public static void Say(string text) => Console.Error.WriteLine("billing: " + text);

    /// <summary>Says what is being done, on a terminal with the seconds since it began.</summary>
    /// <param name="label">What is being done, e.g. "installing".</param>
    /// <param name="work">The work.</param>
    public static async Task WithClockAsync(string label, Task work)
    {
        if (Console.IsErrorRedirected)
        {
            Say(label + " ...");
            await work;
            return;
        }
        var started = Stopwatch.GetTimestamp();
        using var second = new PeriodicTimer(TimeSpan.FromSeconds(1), TimeProvider.System);
        do
        {
            await Console.Error.WriteAsync(string.Create(
                CultureInfo.InvariantCulture, $"\r\e[Kbilling: {label} ... {(int)Stopwatch.GetElapsedTime(started).TotalSeconds} s"));
        }
        while (await Task.WhenAny(work, second.WaitForNextTickAsync().AsTask()) != work);
        await Console.Error.WriteAsync("\r\e[K");
        await work;
    }
}
