using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release.Archives;

/// <summary>The archive of a program for an architecture: the published program with its version, licences,
/// bill of materials and the Debian packages that it needs.</summary>
internal sealed class ProgramArchive(
    string root, ReleasedProgram program, string version, string architecture, DateTimeOffset time)
{
    private static readonly string[] Legal = ["license", "notice", "third-party"];

    private readonly string _packages = Publishing.PackagesOf(Publishing.Artifacts(root), program.Assembly);

    public async Task PackAsync(string published, string staging, string release, CancellationToken cancellationToken)
    {
        program.RefuseLaboratory(root, published);
        var name = $"billing-{program.Name}-{version}";
        var top = Path.Combine(staging, name);
        Messages.Say($"packing {name}-{architecture} ...");
        if (Directory.Exists(top))
        {
            Directory.Delete(top, recursive: true);
        }
        await new Tool("cp").RunAsync(["-r", "--", published, top], cancellationToken);
        RemoveOtherLaunchers(top);
        File.Copy(Path.Combine(root, "LICENSE"), Path.Combine(top, "LICENSE"));
        var required = await RequiredPackages.OfAsync(top, cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(top, "VERSION"), version + "\n", cancellationToken);
        await File.WriteAllTextAsync(
            Path.Combine(top, "REQUIRES"),
            string.Concat(required.Select(package => package + "\n")), cancellationToken);
        var bill = BillOfMaterials.Of(published, program.Assembly, version, architecture, _packages, time);
        await File.WriteAllTextAsync(Path.Combine(top, "sbom.json"), bill, cancellationToken);
        CopyLicenses(published, top);
        var archive = Path.Combine(release, $"{name}-{architecture}");
        File.Copy(Path.Combine(top, "sbom.json"), archive + ".sbom.json");
        await Archive.PackAsync(staging, name, archive + ".tar.gz", time, cancellationToken);
    }

    // The launchers of the platform's other programs are useless without their other files.
    private void RemoveOtherLaunchers(string top)
    {
        foreach (var other in ReleasedProgram.All.Where(other => other != program))
        {
            foreach (var end in (string[])["", ".runtimeconfig.json", ".deps.json"])
            {
                File.Delete(Path.Combine(top, other.Assembly + end));
            }
        }
    }

    // The licences and notices of the libraries.
    private void CopyLicenses(string published, string top)
    {
        var all = Directory.CreateDirectory(Path.Combine(top, "licenses"));
        foreach (var library in PublishedLibrary.In(published).Where(library => !library.IsProject))
        {
            var files = Directory.EnumerateFiles(library.PackageFolder(_packages))
                .Where(file =>
                    Legal.Any(start => Path.GetFileName(file).StartsWith(start, StringComparison.OrdinalIgnoreCase)));
            foreach (var file in files)
            {
                var folder = all.CreateSubdirectory(library.Name);
                File.Copy(file, Path.Combine(folder.FullName, Path.GetFileName(file)), overwrite: true);
            }
        }
    }
}
