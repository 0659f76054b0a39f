using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>A program of a release.</summary>
internal sealed record ReleasedProgram(string Name, string Folder)
{
    /// <summary>The product's programs, and the client that makes the load of experiments on many machines: of the
    /// laboratory, a release has nothing else.</summary>
    public static IReadOnlyList<ReleasedProgram> All { get; } =
    [
        new("proxy", "src/Proxy"), new("backend", "src/Backends"), new("webhooks", "src/Webhooks"),
        new("operator", "src/Operator"), new("client", "load/Driver"),
    ];

    public string Assembly => "Billing." + Path.GetFileName(Folder);
    public string Project => $"{Folder}/{Assembly}.csproj";

    /// <summary>Checks that the published program has nothing of the laboratory but itself.</summary>
    /// <param name="root">The folder of the sources.</param>
    /// <param name="published">The folder of the published program.</param>
    /// <exception cref="StackException">It has a project of the laboratory.</exception>
    public void RefuseLaboratory(string root, string published)
    {
        var laboratory = Directory.EnumerateFiles(Path.Combine(root, "load"), "*.csproj", SearchOption.AllDirectories)
            .Select(project => Path.GetFileNameWithoutExtension(project)).Where(assembly => assembly != Assembly);
        if (laboratory.FirstOrDefault(assembly => File.Exists(Path.Combine(published, assembly + ".dll"))) is { } found)
        {
            throw new StackException($"{found} is a part of the laboratory; a release of {Assembly} must not have it");
        }
    }
}
