namespace Billing.Cli.Release.Archives;

/// <summary>A program of a release.</summary>
internal sealed record ReleasedProgram(string Name, string Folder)
{
    public static IReadOnlyList<ReleasedProgram> All { get; } =
        [new("proxy", "src/Proxy"), new("backend", "src/Backends"), new("webhooks", "src/Webhooks"), new("client", "load/Driver"), new("cli", "load/Cli")];

    public string Assembly => "Billing." + Path.GetFileName(Folder);
    public string Project => $"{Folder}/{Assembly}.csproj";
}
