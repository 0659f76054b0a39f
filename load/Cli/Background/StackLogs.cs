using Billing.LocalStack.Processes;

namespace Billing.Cli.Background;

/// <summary>The logs of the stack in the background, which the program tail prints: <c>logs</c>.</summary>
internal static class StackLogs
{
    /// <summary>Prints the stack's logs, and with <paramref name="follow"/> new lines too, until it is cancelled or the
    /// stack is stopped.</summary>
    public static async Task<int> PrintAsync(
        IReadOnlyCollection<string> names, bool follow, CancellationToken cancellationToken)
    {
        if (await StackState.ReadAsync() is not { } state)
        {
            Console.WriteLine("No stack is running.");
            return 1;
        }
        var exitCode = await new Tool("tail").PassThroughAsync(
            ["-n", "+1", .. follow ? ["--follow=name"] : (string[])[], .. Files(state.Logs, names)], cancellationToken);
        // When it follows, it ends with Ctrl-C or with the files, and calls that a failure.
        return follow ? 0 : exitCode;
    }

    /// <summary>Returns the logs of the named processes, or all logs.</summary>
    /// <exception cref="StackException">There is no such log; the message lists the names.</exception>
    public static IReadOnlyList<string> Files(string folder, IReadOnlyCollection<string> names)
    {
        var all = Directory.Exists(folder)
            ? Directory.EnumerateFiles(folder, "*.log").ToDictionary(file => Path.GetFileNameWithoutExtension(file))
            : throw new StackException($"The folder of the stack's logs, {folder}, does not exist.");
        return names.FirstOrDefault(name => !all.ContainsKey(name)) is { } unknown
            ? throw new StackException(
                $"There is no log of '{unknown}'; there are "
                + $"{string.Join(", ", all.Keys.Order(StringComparer.Ordinal))}.")
            : [.. (names.Count > 0 ? names : [.. all.Keys.Order(StringComparer.Ordinal)]).Select(name => all[name])];
    }
}
