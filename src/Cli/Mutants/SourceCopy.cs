using System.Diagnostics;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>A throw-away copy of the sources, as git tracks them and as they are now.</summary>
internal sealed class SourceCopy : IAsyncDisposable
{
    private SourceCopy(string folder) => Folder = folder;

    /// <summary>The sources that this program was built from.</summary>
    /// <exception cref="StackException">They are not at hand.</exception>
    public static string Root
    {
        get
        {
            for (var at = new DirectoryInfo(AppContext.BaseDirectory); at is not null; at = at.Parent)
            {
                if (File.Exists(Path.Combine(at.FullName, "Billing.sln")))
                {
                    return at.FullName;
                }
            }
            throw new StackException("The sources are not at hand: this command runs from a clone of them.");
        }
    }

    /// <summary>Where the copy is.</summary>
    public string Folder { get; }

    /// <summary>Makes a copy.</summary>
    public static SourceCopy Create()
    {
        var copy = new SourceCopy(Directory.CreateTempSubdirectory("billing-mutants-").FullName);
        foreach (var file in Tracked(Root))
        {
            var target = Path.Combine(copy.Folder, file);
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(Path.Combine(Root, file), target);
        }
        return copy;
    }

    /// <summary>Changes a file of the copy until the result is disposed of.</summary>
    /// <exception cref="StackException">The file does not hold the text exactly once: the list is out of date.</exception>
    public IDisposable Plant(Mutant mutant)
    {
        var file = Path.Combine(Folder, mutant.File);
        var sound = File.ReadAllText(file);
        if (sound.Split(mutant.Find).Length != 2)
        {
            throw new StackException($"eng/mutants.json: '{mutant.Name}': {mutant.File} does not hold the text to replace exactly once.");
        }
        File.WriteAllText(file, sound.Replace(mutant.Find, mutant.Replace, StringComparison.Ordinal));
        return new Planted(() => File.WriteAllText(file, sound));
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        Directory.Delete(Folder, recursive: true);
        return ValueTask.CompletedTask;
    }

    private static IEnumerable<string> Tracked(string root)
    {
        var start = new ProcessStartInfo("git", ["-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]) { RedirectStandardOutput = true };
        using var git = Process.Start(start)!;
        var files = git.StandardOutput.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        git.WaitForExit();
        return files.Where(file => File.Exists(Path.Combine(root, file)));
    }

    private sealed class Planted(Action restore) : IDisposable
    {
        public void Dispose() => restore();
    }
}
