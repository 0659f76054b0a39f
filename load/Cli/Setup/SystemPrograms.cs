using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>This machine: the programs on its PATH.</summary>
/// <param name="root">The folder with the system's files; empty for this machine's.</param>
internal sealed class SystemPrograms(Func<string, string?> variable, string root, bool isRoot)
{
    public static SystemPrograms Current { get; } = new(
        Environment.GetEnvironmentVariable, "", Environment.IsPrivilegedProcess);

    public string Root => root;
    public string Path => variable("PATH") ?? "";

    public bool IsRoot => isRoot;

    /// <summary>An environment variable; null if it is not set, or empty.</summary>
    public string? Variable(string name) => variable(name) is { Length: > 0 } value ? value : null;

    public string? Find(string program) => Tool.Find(program, Path);
}
