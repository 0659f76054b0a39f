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

    /// <summary>The rows of the Markdown tables of a page that have a first line, each as its cells.</summary>
    public static IEnumerable<string[]> Rows(string file, string head)
    {
        var lines = Lines(file);
        Assert.Contains(head, lines);
        return lines.Index().Where(line => line.Item == head)
            .SelectMany(line => lines.Skip(line.Index + 2).TakeWhile(row => row.StartsWith('|')))
            .Select(row => row.Trim('|').Split('|').Select(cell => cell.Trim()).ToArray());
    }

    /// <summary>The items of the list under a heading of a page, each with its lines joined.</summary>
    public static List<string> ListItems(IEnumerable<string> page, string heading)
    {
        List<string> items = [];
        var section = page.SkipWhile(line => line != heading).Skip(1);
        foreach (var line in section.SkipWhile(line => !IsItem(line)).TakeWhile(line => line.Length > 0))
        {
            if (IsItem(line))
            {
                items.Add(line[2..]);
            }
            else
            {
                items[^1] += " " + line.Trim();
            }
        }
        return items;

        static bool IsItem(string line) => line.StartsWith("- ", StringComparison.Ordinal);
    }

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
