using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>A library that a published program consists of.</summary>
/// <param name="Key">Its name and version, as in the program's deps.json.</param>
/// <param name="IsProject">Whether it is a project of this repository, instead of a package.</param>
internal sealed record PublishedLibrary(string Key, bool IsProject)
{
    private const string RuntimePrefix = "runtimepack.";

    /// <summary>Its name and version, separated by a slash.</summary>
    public string NameAndVersion => WithoutPrefix(Key);

    /// <summary>Its name.</summary>
    public string Name => NameAndVersion[..NameAndVersion.LastIndexOf('/')];

    /// <summary>Its version.</summary>
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
    /// <param name="packages">The folder that packages were restored to.</param>
    /// <exception cref="StackException">The folder is missing.</exception>
    public string PackageFolder(string packages)
    {
        // NuGet's folders have names in lower case.
        var folder = Path.Combine(packages, NameAndVersion.ToLowerInvariant());
        return Directory.Exists(folder)
            ? folder
            : throw new StackException($"the package folder {folder}, which the program was published from, is missing");
    }
}
