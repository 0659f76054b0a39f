using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>The time that all files of a release have.</summary>
internal static class ReleaseTime
{
    /// <summary>The environment variable that sets it, in seconds since 1970.
    /// https://reproducible-builds.org/specs/source-date-epoch</summary>
    public const string Variable = "SOURCE_DATE_EPOCH";

    /// <summary>Returns the time in <see cref="Variable"/>, or that of the commit; outside of a clone, that of the newest source file.
    /// </summary>
    public static async Task<DateTimeOffset> ReadAsync(string root, CancellationToken cancellationToken)
    {
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } set)
        {
            return long.TryParse(set, NumberStyles.None, CultureInfo.InvariantCulture, out var given)
                ? DateTimeOffset.FromUnixTimeSeconds(given)
                : throw new StackException($"{Variable} is '{set}', which is not a number of seconds");
        }
        var (exitCode, output, _) = Tool.Find("git") is { } git
            ? await new Tool(git).TryAsync(["-C", root, "log", "-1", "--format=%ct"], cancellationToken)
            : (-1, "", "");
        return exitCode == 0 ? DateTimeOffset.FromUnixTimeSeconds(long.Parse(output.Trim())) : NewestFile(root);
    }

    private static DateTimeOffset NewestFile(string root)
    {
        string[] folders = ["src", "load", "deploy", "eng"];
        var newest = folders.Select(folder => new DirectoryInfo(Path.Combine(root, folder)))
            .SelectMany(folder => folder.EnumerateFiles("*", SearchOption.AllDirectories))
            .Max(file => new DateTimeOffset(file.LastWriteTimeUtc));
        return DateTimeOffset.FromUnixTimeSeconds(newest.ToUnixTimeSeconds());
    }
}
