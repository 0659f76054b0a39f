using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal;

/// <summary>A release as <c>./billing package</c> makes it.</summary>
/// <param name="Folder">Where it is.</param>
/// <param name="Version">Which.</param>
/// <param name="BootstrapHash">SHA-256 of its bootstrap archive, in hexadecimal digits.</param>
internal sealed record Release(string Folder, string Version, string BootstrapHash)
{
    /// <summary>Reads what a release says of itself to Terraform.</summary>
    /// <exception cref="StackException">The folder holds no release.</exception>
    public static Release Read(string folder)
    {
        var file = Path.Combine(folder, "release.auto.tfvars.json");
        if (!File.Exists(file))
        {
            throw new StackException($"{folder} holds no release: there is no release.auto.tfvars.json. `./billing package` makes one.");
        }
        using var json = JsonDocument.Parse(File.ReadAllBytes(file));
        return new Release(
            Path.GetFullPath(folder),
            json.RootElement.GetProperty("release_version").GetString()!,
            json.RootElement.GetProperty("bootstrap_sha256").GetString()!);
    }
}
