using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>What a release is made of.</summary>
/// <param name="Time">The time that all files of the release have.</param>
/// <param name="Commit">Its hash; null outside of a clone.</param>
/// <param name="Changes">What is not committed, as git lists it; empty if there is nothing.</param>
internal sealed record Sources(DateTimeOffset Time, string? Commit, string Changes)
{
    /// <summary>The environment variable that sets the time, in seconds since 1970.
    /// https://reproducible-builds.org/specs/source-date-epoch</summary>
    public const string TimeVariable = "SOURCE_DATE_EPOCH";

    /// <summary>The time, as <see cref="TimeVariable"/> has it.</summary>
    public string Epoch => Time.ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture);

    /// <summary>Reads the commit. The time is that of <see cref="TimeVariable"/>, or the commit's; outside of a clone,
    /// that of the newest source file.</summary>
    public static async Task<Sources> ReadAsync(string root, CancellationToken cancellationToken)
    {
        var commit = (await GitAsync(root, ["log", "-1", "--format=%H %ct"], cancellationToken))?.Split(' ');
        var changes = commit is null ? null : await GitAsync(root, ["status", "--porcelain"], cancellationToken);
        var time = GivenTime() ?? (commit is null ? NewestFile(root) : FromSeconds(commit[1]));
        return new Sources(time, commit?[0], changes ?? "");
    }

    private static async Task<string?> GitAsync(string root, string[] arguments, CancellationToken cancellationToken)
    {
        if (Tool.Find("git") is not { } git)
        {
            return null;
        }
        var (exitCode, output, _) = await new Tool(git, "-C", root).TryAsync(arguments, cancellationToken);
        return exitCode == 0 ? output.TrimEnd() : null;
    }

    private static DateTimeOffset? GivenTime()
    {
        if (Environment.GetEnvironmentVariable(TimeVariable) is not { Length: > 0 } set)
        {
            return null;
        }
        return long.TryParse(set, NumberStyles.None, CultureInfo.InvariantCulture, out _)
            ? FromSeconds(set)
            : throw new StackException($"{TimeVariable} is '{set}', which is not a number of seconds");
    }

    private static DateTimeOffset FromSeconds(string seconds) =>
        DateTimeOffset.FromUnixTimeSeconds(long.Parse(seconds, CultureInfo.InvariantCulture));

    private static DateTimeOffset NewestFile(string root)
    {
        string[] folders = ["src", "load", "deploy", "eng"];
        var newest = folders.Select(folder => new DirectoryInfo(Path.Combine(root, folder)))
            .SelectMany(folder => folder.EnumerateFiles("*", SearchOption.AllDirectories))
            .Max(file => new DateTimeOffset(file.LastWriteTimeUtc));
        return DateTimeOffset.FromUnixTimeSeconds(newest.ToUnixTimeSeconds());
    }
}
