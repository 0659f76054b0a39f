using System.CommandLine;
using Billing.Cli.Release;
using Billing.Cli.Setup;
using Billing.Operator.Arguments;

namespace Billing.Cli.Commands;

/// <summary><c>./billing package</c>.</summary>
internal static class PackageCommand
{
    public static Command Create()
    {
        var version = Flags.Text(
            "--version", "Version of the release (SemVer); by default Version in Directory.Build.props", "V");
        var architectures = Flags.Text(
            "--architectures",
            "linux-x64, linux-arm64 or both, separated by a comma; by default those that can be built here", "LIST");
        var output = Flags.Text(
            "--output",
            "Folder of the release, by default artifacts/release/V; an earlier release in it is replaced", "FOLDER");
        var sign = Flags.Text(
            "--sign",
            "Sign the NuGet packages with the certificate and key in this file (PKCS #12), whose password is in "
                + $"{PackageSignature.PasswordVariable}",
            "FILE");
        var timestamper = Flags.Text(
            "--timestamper",
            "With --sign, the server (RFC 3161) that confirms the time, so that signatures outlive the certificate",
            "URL")
            .Refuse(text => Uri.IsWellFormedUriString(text, UriKind.Absolute)
                ? null
                : $"--timestamper must be a URL; it is {text}.");
        var check = new Option<bool>("--check")
        {
            Description = "Package the release again, from a clone in another folder, and compare the bytes",
        };
        var command = new Command(
            "package",
            "Creates the archives that machines and images are installed from, and the NuGet packages of the SDK.")
        {
            version, architectures, output, sign, timestamper, check,
        };
        command.Validators.Add(result =>
        {
            if (result.GetResult(timestamper) is not null && result.GetResult(sign) is null)
            {
                result.AddError("--timestamper is for --sign: without a certificate there are no signatures.");
            }
        });
        return command.Does(async (parsed, cancellationToken) =>
        {
            var workspace = Workspace.FromEnvironment();
            var options = ReleaseOptions.Read(
                workspace.Root, parsed.GetValue(version), parsed.GetValue(architectures), parsed.GetValue(output));
            var signature = parsed.GetValue(sign) is { } file
                ? PackageSignature.Read(
                    file, Environment.GetEnvironmentVariable(PackageSignature.PasswordVariable),
                    parsed.GetValue(timestamper))
                : null;
            await PackageAsync(workspace, options, parsed.GetValue(check), signature, cancellationToken);
            return 0;
        });
    }

    private static async Task PackageAsync(
        Workspace workspace, ReleaseOptions options, bool check,
        PackageSignature? signature, CancellationToken cancellationToken)
    {
        var needs = new Needs(new Installer(SystemPrograms.Current, workspace.State));
        ReleaseBuild.Require(needs);
        await needs.SettleAsync("package", cancellationToken);
        var sources = await Sources.ReadAsync(workspace.Root, cancellationToken);
        if (check)
        {
            ReleaseCheck.RequireCommitted(sources);
        }
        var build = new ReleaseBuild(workspace, options, sources);
        await build.RunAsync(cancellationToken);
        if (check)
        {
            await new ReleaseCheck(workspace.Root, options, sources).RunAsync(cancellationToken);
        }
        // Signatures differ each time, so what is compared has none.
        if (signature is not null)
        {
            await build.SignAsync(signature, cancellationToken);
        }
    }
}
