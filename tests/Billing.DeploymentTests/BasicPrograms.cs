using System.Runtime.Versioning;

namespace Billing.DeploymentTests;

/// <summary>A folder with links to the programs that every system has, without those that may be missing.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class BasicPrograms : IDisposable
{
    private static readonly HashSet<string> Excluded = new(StringComparer.Ordinal)
    {
        "dotnet", "gcc", "cc", "make", "npm", "curl", "java", "xz", "sudo",
        "apt-get", "apt-cache", "dpkg-deb", "dnf", "pacman",
        "pg_config", "postgres", "initdb", "node", "prometheus", "promtool", "readelf", "chromium", "patroni", "etcd",
    };

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-programs-");

    public BasicPrograms()
    {
        foreach (var program in Directory.EnumerateFiles("/usr/bin").Concat(Directory.EnumerateFiles("/bin"))
            .DistinctBy(Path.GetFileName))
        {
            if (!Excluded.Contains(Path.GetFileName(program)))
            {
                File.CreateSymbolicLink(Path.Combine(Folder, Path.GetFileName(program)), program);
            }
        }
        File.SetUnixFileMode(Folder, (UnixFileMode)0b111_101_101);
    }

    /// <summary>The folder.</summary>
    public string Folder => _folder.FullName;

    public void Dispose() => _folder.Delete(recursive: true);
}
