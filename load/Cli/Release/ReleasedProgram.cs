namespace Billing.Cli.Release;

/// <summary>A program of a release.</summary>
/// <param name="Name">Its name in the archives' names.</param>
/// <param name="Folder">The folder of its project in the repository.</param>
internal sealed record ReleasedProgram(string Name, string Folder)
{
    /// <summary>All programs of a release.</summary>
    public static IReadOnlyList<ReleasedProgram> All { get; } =
        [new("proxy", "src/Proxy"), new("backend", "src/Backends"), new("client", "src/LoadClient"), new("cli", "load/Cli")];

    /// <summary>The name of its assembly.</summary>
    public string Assembly => "Billing." + Path.GetFileName(Folder);

    /// <summary>Its project file, in the repository.</summary>
    public string Project => $"{Folder}/{Assembly}.csproj";
}
