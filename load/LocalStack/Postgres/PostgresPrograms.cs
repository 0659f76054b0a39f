using System.Diagnostics;
using System.Text.RegularExpressions;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Postgres;

/// <summary>Finds the programs of an installed PostgreSQL server. No system server is used:
/// a stack creates its own cluster.</summary>
public static partial class PostgresPrograms
{
    /// <summary>The environment variable with the folder of <c>initdb</c> and <c>postgres</c>.</summary>
    public const string FolderVariable = "BILLING_POSTGRES_BIN";

    /// <summary>The oldest version that is used.</summary>
    public const int OldestVersion = 14;

    /// <summary>Finds the folder that contains <c>initdb</c> and <c>postgres</c>.</summary>
    /// <exception cref="StackException">There is none, or one of the programs is missing in it.</exception>
    public static string FindFolder() => TryFindFolder() ?? throw new StackException(
        $"PostgreSQL {OldestVersion} or newer is not installed: start with ./billing, which installs it "
            + "or explains how, " +
        $"or set {FolderVariable} to the folder of its programs, or use a running server with --postgres");

    /// <summary>Finds the folder that contains <c>initdb</c> and <c>postgres</c>: the one in
    /// <see cref="FolderVariable"/>, else that of the newest version in the folders of Debian's packages or of
    /// PostgreSQL's own packages for Fedora, else the one that <c>pg_config</c> prints, else one on the PATH, as
    /// on Fedora and Arch.</summary>
    /// <param name="variable">Reads an environment variable; null for those of this process.</param>
    /// <param name="root">The folder with the system's files; empty for this machine's.</param>
    /// <returns>The folder, or null if there is none.</returns>
    /// <exception cref="StackException">The variable names a folder without these programs.</exception>
    public static string? TryFindFolder(Func<string, string?>? variable = null, string root = "")
    {
        variable ??= Environment.GetEnvironmentVariable;
        if (variable(FolderVariable) is { Length: > 0 } named)
        {
            return IsUsable(named)
                ? named
                : throw new StackException(
                    $"{FolderVariable} is {named}: no PostgreSQL {OldestVersion} or newer there");
        }
        return Installed(root, variable("PATH") ?? "").FirstOrDefault(IsUsable);
    }

    private static IEnumerable<string> Installed(string root, string path)
    {
        var versioned = Subfolders(root + "/usr/lib/postgresql", "*").Concat(Subfolders(root + "/usr", "pgsql-*"))
            .OrderByDescending(
                folder => int.TryParse(Path.GetFileName(folder).Split('-')[^1], out var version) ? version : 0);
        foreach (var folder in versioned)
        {
            yield return Path.Combine(folder, "bin");
        }
        var searched = path.Split(':').Where(Path.IsPathRooted).ToList();
        if (searched.Find(folder => File.Exists(Path.Combine(folder, "pg_config"))) is { } configured)
        {
            yield return Output(Path.Combine(configured, "pg_config"), "--bindir").Trim();
        }
        foreach (var folder in searched)
        {
            yield return folder;
        }
    }

    private static string[] Subfolders(string folder, string pattern) =>
        Directory.Exists(folder) ? Directory.GetDirectories(folder, pattern) : [];

    private static bool IsUsable(string folder) =>
        File.Exists(Path.Combine(folder, "initdb")) && File.Exists(Path.Combine(folder, "postgres")) &&
        VersionNumber().Match(Output(Path.Combine(folder, "postgres"), "--version")) is { Success: true } version &&
        int.Parse(version.Groups[1].Value) >= OldestVersion;

    private static string Output(string program, string argument)
    {
        using var process = Process.Start(new ProcessStartInfo(program, argument) { RedirectStandardOutput = true })!;
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output;
    }

    [GeneratedRegex(@"\(PostgreSQL\) (\d{1,4})")]
    private static partial Regex VersionNumber();
}
