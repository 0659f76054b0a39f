using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal;

/// <summary>A release of <c>./billing package</c>.</summary>
/// <param name="BootstrapHash">SHA-256 of its bootstrap archive, in hexadecimal digits.</param>
internal sealed record Release(string Folder, string Version, string BootstrapHash)
{
    public static Release Read(string folder)
    {
        var file = Path.Combine(folder, "release.auto.tfvars.json");
        if (!File.Exists(file))
        {
            throw new StackException($"{folder} contains no release: release.auto.tfvars.json is missing. `./billing package` creates a release.");
        }
        using var json = JsonDocument.Parse(File.ReadAllBytes(file));
        return new Release(
            Path.GetFullPath(folder),
            json.RootElement.GetProperty("release_version").GetString()!,
            json.RootElement.GetProperty("bootstrap_sha256").GetString()!);
    }
}
