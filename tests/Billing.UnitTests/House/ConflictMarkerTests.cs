using System.Diagnostics;

namespace Billing.UnitTests.House;

/// <summary>No file of the repository holds what a merge leaves where both sides changed the same lines.</summary>
public sealed class ConflictMarkerTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("billing-conflict-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task No_file_holds_the_markers_of_a_merge_conflict()
    {
        Assert.SkipUnless(Path.Exists(Path.Combine(Repository.Root, ".git")), "this is no git repository");

        Assert.Empty(await MarkedAsync(Repository.Root));
    }

    [Theory]
    [InlineData('<', " HEAD")]
    [InlineData('|', " merged common ancestors")]
    [InlineData('=', "")]
    [InlineData('>', " f6310f3")]
    public async Task Each_marker_is_found(char marker, string rest)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder, "page.md"), $"one\n{new string(marker, 7)}{rest}\nother\n", TestContext.Current.CancellationToken);

        Assert.Equal($"page.md:2:{new string(marker, 7)}{rest}", Assert.Single(await MarkedAsync(_folder, "--no-index")));
    }

    // Lines that begin with a marker, of text files that git tracks. In a container, the folder may belong to another user.
    private static async Task<string[]> MarkedAsync(string folder, params string[] options)
    {
        var start = new ProcessStartInfo("git", ["-C", folder, "-c", "safe.directory=*", "grep", "-InE", .. options, "^(<{7}|[|]{7}|={7}|>{7})( |$)"])
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
