using System.Diagnostics;

namespace Billing.UnitTests.House;

/// <summary>Lines of text files, as `git grep` finds them: FILE:LINE:TEXT.</summary>
internal static class GitGrep
{
    /// <summary>Whether the sources are a git repository, as they are not in an archive.</summary>
    public static bool IsPossible => Path.Exists(Path.Combine(Repository.Root, ".git"));

    /// <summary>Returns the lines that match an extended regular expression.</summary>
    /// <param name="folder">Where to search.</param>
    /// <param name="expression">The expression.</param>
    /// <param name="options">Further options and, after <c>--</c>, the files; all that git tracks by default.</param>
    public static async Task<string[]> FindAsync(string folder, string expression, params string[] options)
    {
        // In a container, the folder may belong to another user.
        var start = new ProcessStartInfo(
            "git", ["-C", folder, "-c", "safe.directory=*", "grep", "-InE", "-e", expression, .. options])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var git = Process.Start(start)!;
        var errors = git.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        var found = await git.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await git.WaitForExitAsync(TestContext.Current.CancellationToken);
        // 1 means that nothing was found.
        Assert.True(git.ExitCode is 0 or 1, await errors);
        return found.Split('\n', StringSplitOptions.RemoveEmptyEntries);
    }
}
