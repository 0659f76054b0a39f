using System.Runtime.Versioning;

namespace Billing.DeploymentTests;

/// <summary>The programs that every system has, and none of those that may be missing: links to this machine's.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class BasicPrograms : IDisposable
{
    private static readonly HashSet<string> Lacking = new(StringComparer.Ordinal)
    {
        "dotnet", "gcc", "cc", "make", "npm", "curl", "java", "xz", "sudo", "apt-get", "apt-cache", "dpkg-deb", "dnf", "pacman",
        "pg_config", "postgres", "initdb", "prometheus", "promtool", "jq", "readelf",
    };

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-programs-");

    public BasicPrograms()
    {
        foreach (var program in Directory.EnumerateFiles("/usr/bin").Concat(Directory.EnumerateFiles("/bin")).DistinctBy(Path.GetFileName))
        {
            if (!Lacking.Contains(Path.GetFileName(program)))
            {
                File.CreateSymbolicLink(Path.Combine(Folder, Path.GetFileName(program)), program);
            }
        }
        File.SetUnixFileMode(Folder, (UnixFileMode)0b111_101_101);
    }

    /// <summary>Where they are.</summary>
    public string Folder => _folder.FullName;

    public void Dispose() => _folder.Delete(recursive: true);
}
