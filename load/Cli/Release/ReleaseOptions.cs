using System.Text.RegularExpressions;
using Billing.Cli.Release.Archives;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>What a release is to contain, and where it goes.</summary>
internal sealed partial record ReleaseOptions
{
    private const string Number = "(0|[1-9][0-9]*)";
    private const string Identifier = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)";

    public static IReadOnlyList<string> AllArchitectures { get; } = ["linux-x64", "linux-arm64"];

    /// <summary>The version, which is part of file names and of images' tags.</summary>
    public required string Version { get; init; }
    public required IReadOnlyList<string> Architectures { get; init; }

    /// <summary>Whether the architectures were chosen explicitly: one that cannot be built is then an error.</summary>
    public required bool AreArchitecturesChosen { get; init; }
    public required string Output { get; init; }

    /// <summary>Checks a command line, and creates the folder.</summary>
    /// <param name="version">The version; that of Directory.Build.props if null.</param>
    /// <param name="architectures">Architectures separated by commas; all if null.</param>
    /// <param name="output">The folder; the version's own below artifacts/release if null.</param>
    public static ReleaseOptions Read(string root, string? version, string? architectures, string? output)
    {
        version ??= VersionOf(root);
        if (!SemVer().IsMatch(version))
        {
            throw new StackException(
                $"--version: '{version}' is not a SemVer version without build metadata, such as 1.2.3 or 1.2.3-rc.1");
        }
        return new ReleaseOptions
        {
            Version = version,
            Architectures = architectures is null ? AllArchitectures : Chosen(architectures),
            AreArchitecturesChosen = architectures is not null,
            Output = CheckedFolder(output ?? Path.Combine(root, "artifacts", "release", version)),
        };
    }

    private static string VersionOf(string root) =>
        VersionElement().Match(File.ReadAllText(Path.Combine(root, "Directory.Build.props"))).Groups[1].Value;

    private static string[] Chosen(string list)
    {
        var names = list.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries).Distinct()
            .Order(StringComparer.Ordinal).ToArray();
        var all = string.Join(", ", AllArchitectures);
        if (names.Length == 0)
        {
            throw new StackException($"--architectures: there are {all}");
        }
        return names.FirstOrDefault(name => !AllArchitectures.Contains(name)) is { } unknown
            ? throw new StackException($"--architectures: '{unknown}' is not an architecture; there are {all}")
            : names;
    }

    private static string CheckedFolder(string folder)
    {
        if (folder.Length == 0)
        {
            throw new StackException("--output: the folder is missing");
        }
        folder = Path.GetFullPath(folder);
        if (!CanWriteTo(folder))
        {
            throw new StackException($"--output: cannot write to {folder}");
        }
        return File.Exists(Path.Combine(folder, Checksums.FileName))
            || !Directory.EnumerateFileSystemEntries(folder).Any()
            ? folder
            : throw new StackException(
                $"--output: {folder} is not empty and is not a release: it has no {Checksums.FileName}");
    }

    private static bool CanWriteTo(string folder)
    {
        try
        {
            Directory.CreateDirectory(folder);
            using var file = new FileStream(
                Path.Combine(folder, "." + Path.GetRandomFileName()), FileMode.CreateNew, FileAccess.Write,
                FileShare.None, 1, FileOptions.DeleteOnClose);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    // File names and images' tags do not allow build metadata.
    [GeneratedRegex($@"^{Number}\.{Number}\.{Number}(-{Identifier}(\.{Identifier})*)?\z")]
    private static partial Regex SemVer();

    [GeneratedRegex("<Version>([^<]*)</Version>")]
    private static partial Regex VersionElement();
}
