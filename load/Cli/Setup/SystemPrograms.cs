using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>This machine: the programs on its PATH, and the system's packages. Packages have the names that Debian gives them;
/// this class knows those of other systems.</summary>
/// <param name="root">The folder with the system's files; empty for this machine's.</param>
internal sealed class SystemPrograms(Func<string, string?> variable, string root, bool isRoot)
{
    private static readonly Dictionary<(string Family, string Package), string> Names = new()
    {
        [("fedora", "postgresql")] = "postgresql-server",
        [("fedora", "default-jre-headless")] = "java-latest-openjdk-headless",
        [("fedora", "xz-utils")] = "xz",
        [("arch", "default-jre-headless")] = "jre-openjdk-headless",
        [("arch", "xz-utils")] = "xz",
    };

    private string? _family;

    public static SystemPrograms Current { get; } = new(Environment.GetEnvironmentVariable, "", Environment.IsPrivilegedProcess);

    public string Root => root;
    public string Path => variable("PATH") ?? "";

    /// <summary>debian, fedora or arch, which determines package names and the installer; empty for other systems.</summary>
    public string Family => _family ??= FamilyOf(root + "/etc/os-release");
    public bool IsRoot => isRoot;

    /// <summary>An environment variable; null if it is not set, or empty.</summary>
    public string? Variable(string name) => variable(name) is { Length: > 0 } value ? value : null;

    public string? Find(string program) => Tool.Find(program, Path);

    public string PackageName(string package) => Names.GetValueOrDefault((Family, package), package);

    private static string FamilyOf(string release)
    {
        if (!File.Exists(release))
        {
            return "";
        }
        var facts = File.ReadLines(release).Select(line => line.Split('=', 2)).Where(fact => fact.Length == 2)
            .ToLookup(fact => fact[0], fact => fact[1].Trim('"', '\''));
        return facts["ID"].Concat(facts["ID_LIKE"]).SelectMany(ids => ids.Split(' ')).Select(id => id switch
        {
            "debian" or "ubuntu" => "debian",
            "fedora" or "rhel" or "centos" => "fedora",
            "arch" => "arch",
            _ => "",
        }).FirstOrDefault(family => family.Length > 0, "");
    }
}
