using System.Text.RegularExpressions;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>The Debian packages of the libraries that programs load.</summary>
internal static partial class RequiredPackages
{
    // For LTTng tracing.
    private const string OptionalLibrary = "libcoreclrtraceptprovider.so";

    // Loaded on first use, so no program lists them.
    private static readonly string[] LoadedOnFirstUse = ["ca-certificates", "libssl3"];

    /// <summary>Returns the packages that the programs in a folder need, in order.</summary>
    public static async Task<IReadOnlyCollection<string>> OfAsync(string folder, CancellationToken cancellationToken)
    {
        var packages = new SortedSet<string>(LoadedOnFirstUse, StringComparer.Ordinal);
        foreach (var library in await NeededLibrariesAsync(folder, cancellationToken))
        {
            if (!Path.Exists(Path.Combine(folder, library)))
            {
                packages.Add(await PackageOfAsync(library, cancellationToken));
            }
        }
        return packages;
    }

    private static async Task<IEnumerable<string>> NeededLibrariesAsync(
        string folder, CancellationToken cancellationToken)
    {
        var programs = Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories).Where(LoadsLibraries);
        var sections = await new Tool("readelf").RunAsync(["-d", .. programs], cancellationToken);
        return NeededLibrary().Matches(sections).Select(match => match.Groups[1].Value).Distinct();
    }

    private static bool LoadsLibraries(string file) => Path.GetFileName(file) != OptionalLibrary
        && (file.EndsWith(".so", StringComparison.Ordinal)
            // The files of packages are executable, also assemblies.
            || (File.GetUnixFileMode(file).HasFlag(UnixFileMode.UserExecute)
                && !file.EndsWith(".dll", StringComparison.Ordinal)));

    private static async Task<string> PackageOfAsync(string library, CancellationToken cancellationToken)
    {
        // On another architecture the loader has another name, but comes from the same package.
        var installed = library.StartsWith("ld-linux-", StringComparison.Ordinal) ? "libc.so.6" : library;
        var (_, owners, _) = await new Tool("dpkg").TryAsync(["-S", "*/" + installed], cancellationToken);
        return OwningPackage().Match(owners) is { Success: true } owner
            ? owner.Groups[1].Value
            : throw new StackException($"no installed Debian package contains {installed}");
    }

    [GeneratedRegex(@"\(NEEDED\).*\[(.*)\]")]
    private static partial Regex NeededLibrary();

    [GeneratedRegex(@"^([^:, ]+)(:[^ ]+)?: ", RegexOptions.Multiline)]
    private static partial Regex OwningPackage();
}
