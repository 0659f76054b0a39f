using Billing.Cli.Release.Archives;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>The check that a release can be reproduced: it is packaged again, from a clone in another folder,
/// and the bytes are compared.</summary>
internal sealed class ReleaseCheck(string root, ReleaseOptions options, Sources sources)
{
    /// <summary>Checks that all sources are committed, since a clone has only those.</summary>
    public static void RequireCommitted(Sources sources)
    {
        if (sources.Commit is null)
        {
            throw new StackException("--check needs a clone of the repository, and git");
        }
        if (sources.Changes.Length > 0)
        {
            throw new StackException(
                $"--check packages a clone of the committed sources; these are not committed: {sources.Changes}");
        }
    }

    /// <summary>Packages again, and compares with the release.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        await using var folder = TemporaryFolder.In(Path.GetTempPath());
        var (clone, again) = (folder.File("another/clone"), folder.File("release"));
        await CloneAsync(clone, cancellationToken);
        Messages.Say($"packaging again, in {folder.Path} ...");
        var billing = new Tool(Path.Combine(clone, "billing"))
        {
            Environment = new Dictionary<string, string> { [Sources.TimeVariable] = sources.Epoch },
        };
        List<string> arguments = ["package", "--version", options.Version, "--output", again];
        if (options.AreArchitecturesChosen)
        {
            arguments.AddRange(["--architectures", string.Join(',', options.Architectures)]);
        }
        if (await billing.PassThroughAsync(arguments, cancellationToken) != 0)
        {
            cancellationToken.ThrowIfCancellationRequested();
            throw new StackException("packaging the clone failed");
        }
        Compare(options.Output, again);
        Messages.Say("packaging in another folder gave the same bytes");
    }

    private async Task CloneAsync(string clone, CancellationToken cancellationToken)
    {
        var git = new Tool("git");
        await git.RunAsync(["clone", "-q", "--", root, clone], cancellationToken);
        // Symbols contain the address of the source repository.
        var (exitCode, origin, _) = await git.TryAsync(["-C", root, "remote", "get-url", "origin"], cancellationToken);
        if (exitCode == 0)
        {
            await git.RunAsync(["-C", clone, "remote", "set-url", "origin", origin.Trim()], cancellationToken);
        }
    }

    /// <summary>Compares two releases.</summary>
    public static void Compare(string release, string again)
    {
        var names = Directory.EnumerateFiles(release).Concat(Directory.EnumerateFiles(again))
            .Select(file => Path.GetFileName(file)).Distinct();
        var different = names.Where(name => !IsSame(Path.Combine(release, name), Path.Combine(again, name)))
            .Order(StringComparer.Ordinal).ToList();
        foreach (var name in different)
        {
            Messages.Say($"{Path.Combine(release, name)} and {Path.Combine(again, name)} differ");
        }
        if (different.Count > 0)
        {
            throw new StackException("the two releases differ");
        }
    }

    private static bool IsSame(string file, string other) =>
        File.Exists(file) && File.Exists(other) && Checksums.Of(file) == Checksums.Of(other);
}
