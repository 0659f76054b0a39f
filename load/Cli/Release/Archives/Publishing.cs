using System.Text.Json;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>Publishes the programs of a release.</summary>
internal sealed class Publishing(Workspace workspace, string version)
{
    private readonly string _published = Path.Combine(Artifacts(workspace.Root), "publish");

    /// <summary>Returns the folder of everything that is built for releases.</summary>
    public static string Artifacts(string root) => Path.Combine(root, "artifacts", "publishing");

    /// <summary>Returns the folder that a project's packages were restored to: it has a folder
    /// for each package.</summary>
    public static string PackagesOf(string artifacts, string project)
    {
        using var json = JsonDocument.Parse(
            File.ReadAllBytes(Path.Combine(artifacts, "obj", project, "project.assets.json")));
        return json.RootElement.GetProperty("project").GetProperty("restore").GetProperty("packagesPath").GetString()!;
    }

    /// <summary>Publishes all programs for an architecture.</summary>
    public async Task<Func<ReleasedProgram, string>> RunAsync(string architecture, CancellationToken cancellationToken)
    {
        // Files of an earlier publish that are no longer part of the program must not be packed.
        if (Directory.Exists(_published))
        {
            Directory.Delete(_published, recursive: true);
        }
        var filter = Path.Combine(workspace.State, "release.slnf");
        await File.WriteAllTextAsync(filter, SolutionFilter(), cancellationToken);
        var log = Path.Combine(workspace.State, "release.log");
        File.Delete(log);
        await Progress.RunAsync(
            $"publishing for {architecture}", log, new Tool(DotnetProgram.Launcher) { Folder = workspace.Root },
            [
                "publish", filter, "-c", "Release", "--nologo", "-v", "quiet", "--disable-build-servers",
                "-p:PackageAnswer=" + workspace.PackageAnswer,
                "-p:ReleaseRuntime=" + architecture, "-p:ReleaseVersion=" + version,
            ],
            $"publishing failed; its output is in {log}", cancellationToken);
        return program => Path.Combine(_published, program.Assembly, "release_" + architecture);
    }

    /// <summary>Returns whether a published program has a librdkafka that its architecture can load;
    /// see Release.targets.</summary>
    public static async Task<bool> HasLibrdkafkaAsync(
        string folder, string architecture, CancellationToken cancellationToken)
    {
        var machine = architecture == "linux-arm64" ? "AArch64" : "X86-64";
        return Directory.EnumerateFiles(folder, "*librdkafka.so").Order(StringComparer.Ordinal)
            .FirstOrDefault() is { } library
            && (await new Tool("readelf").RunAsync(["-h", library], cancellationToken)).Split('\n').Any(line =>
                line.TrimStart().StartsWith("Machine:", StringComparison.Ordinal)
                && line.Contains(machine, StringComparison.Ordinal));
    }

    // The filter is in the folder .billing; its projects have paths from the solution, as Windows writes them.
    private static string SolutionFilter() => JsonSerializer.Serialize(new
    {
        solution = new
        {
            path = "../Billing.sln",
            projects = ReleasedProgram.All.Select(program => program.Project.Replace('/', '\\')),
        },
    });
}
