using System.Diagnostics;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>A temporary copy of the sources: the files that git does not ignore, with uncommitted changes.</summary>
internal sealed class SourceCopy : IAsyncDisposable
{
    private SourceCopy(string folder) => Folder = folder;

    /// <summary>The root folder of the sources that this program was built from.</summary>
    /// <exception cref="StackException">The sources were not found.</exception>
    public static string Root
    {
        get
        {
            for (var at = new DirectoryInfo(AppContext.BaseDirectory); at is not null; at = at.Parent)
            {
                if (File.Exists(Path.Combine(at.FullName, "Billing.slnx")))
                {
                    return at.FullName;
                }
            }
            throw new StackException("The sources were not found: this command must run from a clone of the repository.");
        }
    }

    /// <summary>The folder of the copy.</summary>
    public string Folder { get; }

    /// <summary>Creates a copy.</summary>
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

    /// <summary>Inserts a bug into a file of the copy until the result is disposed.</summary>
    /// <exception cref="StackException">The text does not occur exactly once in the file: the list is out of date.</exception>
    public IDisposable Plant(Mutant mutant)
    {
        var file = Path.Combine(Folder, mutant.File);
        var original = File.ReadAllText(file);
        if (original.Split(mutant.Find).Length != 2)
        {
            throw new StackException($"eng/mutants.json: '{mutant.Name}': the text to replace must occur exactly once in {mutant.File}.");
        }
        File.WriteAllText(file, original.Replace(mutant.Find, mutant.Replace, StringComparison.Ordinal));
        return new Planted(() => File.WriteAllText(file, original));
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
