using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Postgres;

/// <summary>Finds the programs of an installed PostgreSQL server.</summary>
public static class PostgresPrograms
{
    /// <summary>The environment variable with the folder of <c>initdb</c> and <c>postgres</c>.</summary>
    public const string FolderVariable = "BILLING_POSTGRES_BIN";

    private const int OldestVersion = 14;
    private const string DebianFolder = "/usr/lib/postgresql";

    /// <summary>
    /// Finds the folder that contains <c>initdb</c> and <c>postgres</c>: the one in <see cref="FolderVariable"/>, else that of
    /// the newest version in the installation folder of Debian and its derivatives.
    /// </summary>
    /// <exception cref="StackException">There is none, or one of the programs is missing in it.</exception>
    public static string FindFolder()
    {
        if (Environment.GetEnvironmentVariable(FolderVariable) is { Length: > 0 } named)
        {
            return IsComplete(named)
                ? named
                : throw new StackException($"PostgreSQL: {FolderVariable} is {named}, which does not contain both initdb and postgres");
        }

        var newest = Directory.Exists(DebianFolder)
            ? Directory.EnumerateDirectories(DebianFolder)
                .Where(folder => Version(folder) >= OldestVersion)
                .OrderByDescending(Version)
                .Select(folder => Path.Combine(folder, "bin"))
                .FirstOrDefault(IsComplete)
            : null;
        return newest ?? throw new StackException(
            $"PostgreSQL {OldestVersion} or newer is not installed: start with ./billing, which installs it or explains how, " +
            $"or set {FolderVariable} to the folder of its programs, or use a running server with --postgres");
    }

    private static int Version(string folder) =>
        int.TryParse(Path.GetFileName(folder), NumberStyles.None, CultureInfo.InvariantCulture, out var version)
            ? version
            : 0;

    private static bool IsComplete(string folder) =>
        File.Exists(Path.Combine(folder, "initdb")) && File.Exists(Path.Combine(folder, "postgres"));
}
