using Billing.LocalStack.Processes;

namespace Billing.Cli.Mutants;

/// <summary>A temporary copy of the sources: the files that git does not ignore, with uncommitted changes.</summary>
internal sealed class SourceCopy : IDisposable
{
    private SourceCopy(string folder) => Folder = folder;

    /// <summary>The root folder of the sources that this program was built from.</summary>
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
            throw new StackException(
                "The sources were not found: this command must run from a clone of the repository.");
        }
    }

    public string Folder { get; }

    public static async Task<SourceCopy> CreateAsync(CancellationToken cancellationToken)
    {
        var copy = new SourceCopy(Directory.CreateTempSubdirectory("billing-mutants-").FullName);
        var tracked = await new Tool("git").RunAsync(
            ["-C", Root, "ls-files", "--cached", "--others", "--exclude-standard"], cancellationToken);
        foreach (var file in tracked.Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Where(file => File.Exists(Path.Combine(Root, file))))
        {
            var target = Path.Combine(copy.Folder, file);
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(Path.Combine(Root, file), target);
        }
        return copy;
    }

    /// <summary>Inserts a bug into a file of the copy.</summary>
    /// <returns>The text of the file without the bug.</returns>
    /// <exception cref="StackException">The text does not occur exactly once in the file:
    /// the list is out of date.</exception>
    public string Plant(Mutant mutant)
    {
        var file = Path.Combine(Folder, mutant.File);
        var original = File.ReadAllText(file);
        if (original.Split(mutant.Find).Length != 2)
        {
            throw new StackException(
                $"eng/mutants.json: '{mutant.Name}': the text to replace must occur exactly once in {mutant.File}.");
        }
        File.WriteAllText(file, original.Replace(mutant.Find, mutant.Replace, StringComparison.Ordinal));
        return original;
    }

    /// <summary>The file of the project that a bug is in.</summary>
    public string ProjectOf(Mutant mutant)
    {
        for (var folder = Path.GetDirectoryName(
            Path.Combine(Folder, mutant.File))!; folder.Length > Folder.Length; folder = Path.GetDirectoryName(folder)!)
        {
            if (Directory.EnumerateFiles(folder, "*.csproj").SingleOrDefault() is { } project)
            {
                return project;
            }
        }
        throw new StackException($"eng/mutants.json: '{mutant.Name}': {mutant.File} is in no project.");
    }

    public void Restore(Mutant mutant, string original) =>
        File.WriteAllText(Path.Combine(Folder, mutant.File), original);

    public void Dispose() => Directory.Delete(Folder, recursive: true);
}
