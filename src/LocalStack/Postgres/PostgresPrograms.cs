using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Postgres;

/// <summary>Finds the programs of an installed PostgreSQL server.</summary>
public static class PostgresPrograms
{
    /// <summary>The variable that names the folder of <c>initdb</c> and <c>postgres</c>.</summary>
    public const string FolderVariable = "BILLING_POSTGRES_BIN";

    private const int OldestVersion = 14;
    private const string DebianFolder = "/usr/lib/postgresql";

    /// <summary>
    /// The folder that holds <c>initdb</c> and <c>postgres</c>: the one the environment names, else that of the newest
    /// version installed where Debian and its descendants put it.
    /// </summary>
    /// <exception cref="StackException">There is none, or it lacks a program.</exception>
    public static string FindFolder()
    {
        if (Environment.GetEnvironmentVariable(FolderVariable) is { Length: > 0 } named)
        {
            return IsComplete(named)
                ? named
                : throw new StackException($"PostgreSQL: {FolderVariable} is {named}, which lacks initdb or postgres");
        }

        var newest = Directory.Exists(DebianFolder)
            ? Directory.EnumerateDirectories(DebianFolder)
                .Where(folder => Version(folder) >= OldestVersion)
                .OrderByDescending(Version)
                .Select(folder => Path.Combine(folder, "bin"))
                .FirstOrDefault(IsComplete)
            : null;
        return newest ?? throw new StackException(
            $"PostgreSQL {OldestVersion} or newer is not installed: start with ./billing, which installs it or says how, " +
            $"or name the folder of its programs in {FolderVariable}, or give a server with --postgres");
    }

    private static int Version(string folder) =>
        int.TryParse(Path.GetFileName(folder), NumberStyles.None, CultureInfo.InvariantCulture, out var version)
            ? version
            : 0;

    private static bool IsComplete(string folder) =>
        File.Exists(Path.Combine(folder, "initdb")) && File.Exists(Path.Combine(folder, "postgres"));
}
