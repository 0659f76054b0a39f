using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>A library that a published program consists of.</summary>
/// <param name="IsProject">Whether it is a project of this repository, instead of a package.</param>
internal sealed record PublishedLibrary(string Key, bool IsProject)
{
    private const string RuntimePrefix = "runtimepack.";

    /// <summary>Its name and version, separated by a slash.</summary>
    public string NameAndVersion => WithoutPrefix(Key);
    public string Name => NameAndVersion[..NameAndVersion.LastIndexOf('/')];
    public string Version => NameAndVersion[(NameAndVersion.LastIndexOf('/') + 1)..];

    /// <summary>Returns a library's name and version: the .NET runtime has a prefix in a deps.json.</summary>
    public static string WithoutPrefix(string key) =>
        key.StartsWith(RuntimePrefix, StringComparison.Ordinal) ? key[RuntimePrefix.Length..] : key;

    /// <summary>Reads the libraries of all programs in a folder.</summary>
    public static IReadOnlyList<PublishedLibrary> In(string published)
    {
        var libraries = new List<PublishedLibrary>();
        foreach (var file in Directory.EnumerateFiles(published, "*.deps.json").Order(StringComparer.Ordinal))
        {
            using var json = JsonDocument.Parse(File.ReadAllBytes(file));
            libraries.AddRange(Of(json.RootElement));
        }
        return libraries;
    }

    /// <summary>Reads the libraries of a deps.json.</summary>
    public static IEnumerable<PublishedLibrary> Of(JsonElement dependencies) =>
        from library in dependencies.GetProperty("libraries").EnumerateObject()
        select new PublishedLibrary(library.Name, library.Value.GetProperty("type").GetString() == "project");

    /// <summary>Returns the folder of its package.</summary>
    public string PackageFolder(string packages)
    {
        // NuGet's folders have names in lower case.
        var folder = Path.Combine(packages, NameAndVersion.ToLowerInvariant());
        return Directory.Exists(folder)
            ? folder
            : throw new StackException(
                $"the package folder {folder}, which the program was published from, is missing");
    }
}
