using System.Runtime.InteropServices;
using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack;

/// <summary>A release of <c>./billing package</c>.</summary>
/// <param name="Folder">The folder of its archives.</param>
/// <param name="BootstrapHash">SHA-256 of its bootstrap archive, in hexadecimal digits.</param>
public sealed record Release(string Folder, string Version, string BootstrapHash)
{
    private const string FileName = "release.auto.tfvars.json";

    private static readonly string Machine =
        RuntimeInformation.OSArchitecture == Architecture.Arm64 ? "linux-arm64" : "linux-x64";

    // The archive of each program that serves payments.
    private static readonly IReadOnlyDictionary<string, string> Archives =
        new Dictionary<string, string> { ["Billing.Proxy"] = "proxy", ["Billing.Backends"] = "backend" };

    /// <summary>Reads which release a folder contains.</summary>
    /// <exception cref="StackException">It contains none.</exception>
    public static Release Read(string folder)
    {
        var file = Path.Combine(folder, FileName);
        if (!File.Exists(file))
        {
            throw new StackException(
                $"{folder} contains no release: {FileName} is missing. `./billing package` creates a release.");
        }
        using var json = JsonDocument.Parse(File.ReadAllBytes(file));
        return new Release(
            Path.GetFullPath(folder),
            json.RootElement.GetProperty("release_version").GetString()!,
            json.RootElement.GetProperty("bootstrap_sha256").GetString()!);
    }

    /// <summary>Fails unless the services of payments are in it, for this machine.</summary>
    /// <exception cref="StackException">An archive is missing.</exception>
    public void RequireServices()
    {
        if (Archives.Values.Select(ArchiveOf).FirstOrDefault(archive => !File.Exists(archive)) is { } missing)
        {
            throw new StackException(
                $"{Folder} has no services for this machine: {Path.GetFileName(missing)} is missing.");
        }
    }

    /// <summary>Unpacks the services of payments.</summary>
    /// <param name="folder">Where: each program gets a folder of its name.</param>
    /// <exception cref="StackException">An archive cannot be unpacked.</exception>
    public async Task UnpackServicesAsync(string folder, CancellationToken cancellationToken)
    {
        foreach (var (program, name) in Archives)
        {
            var target = Directory.CreateDirectory(Path.Combine(folder, program)).FullName;
            await new Tool("tar").RunAsync(
                ["-xzf", ArchiveOf(name), "--force-local", "--strip-components=1", "-C", target], cancellationToken);
        }
    }

    private string ArchiveOf(string name) => Path.Combine(Folder, $"billing-{name}-{Version}-{Machine}.tar.gz");
}
