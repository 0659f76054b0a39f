namespace Billing.Testing;

/// <summary>The source tree that these tests were built from.</summary>
public static class Repository
{
    public static string Root { get; } = FindRoot();

    /// <summary>Returns the files under a folder as paths from the root, without build output.</summary>
    public static IEnumerable<string> Files(string folder, string pattern) =>
        Directory.EnumerateFiles(Path.Combine(Root, folder), pattern, SearchOption.AllDirectories)
            .Select(path => Path.GetRelativePath(Root, path).Replace('\\', '/'))
            .Where(path => !path.Split('/').Any(part => part is "obj" or "bin"));

    public static string[] Lines(string file) => File.ReadAllLines(Path.Combine(Root, file));

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Billing.sln")))
            {
                return folder.FullName;
            }
        }
        throw new InvalidOperationException($"No folder above {AppContext.BaseDirectory} contains Billing.sln.");
    }
}
