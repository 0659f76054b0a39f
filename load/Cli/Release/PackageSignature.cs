using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>Signs NuGet packages.</summary>
/// <param name="timestamper">The server that confirms when they were signed, so that signatures outlive the
/// certificate; none if null.</param>
internal sealed class PackageSignature(X509Certificate2 certificate, string? timestamper)
{
    /// <summary>The environment variable with the password of the certificate's file.</summary>
    public const string PasswordVariable = "BILLING_SIGN_PASSWORD";

    /// <summary>Reads the certificate and its key from a file in the format PKCS #12.</summary>
    public static PackageSignature Read(string file, string? password, string? timestamper)
    {
        try
        {
            var certificate = X509CertificateLoader.LoadPkcs12FromFile(file, password, X509KeyStorageFlags.Exportable);
            return certificate.HasPrivateKey
                ? new PackageSignature(certificate, timestamper)
                : throw new StackException($"--sign: {file} has no private key");
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException)
        {
            throw new StackException(
                $"--sign: {file} cannot be read with the password in {PasswordVariable}: {e.Message}");
        }
    }

    /// <summary>Signs all packages in a folder, without those of symbols, which nuget.org refuses when they are signed.
    /// </summary>
    public async Task SignAsync(string folder, CancellationToken cancellationToken)
    {
        await using var temporary = TemporaryFolder.In(Path.GetTempPath());
        var signed = Directory.CreateDirectory(temporary.File("signed")).FullName;
        // Every user can see a program's arguments: this password is of no use for anything else.
        var (file, password) =
            (temporary.File("certificate.pfx"), Convert.ToHexString(RandomNumberGenerator.GetBytes(32)));
        var copy = certificate.ExportPkcs12(Pkcs12ExportPbeParameters.Pbes2Aes256Sha256, password);
        await File.WriteAllBytesAsync(file, copy, cancellationToken);
        var (exitCode, output, errors) = await new Tool(DotnetProgram.Launcher, "nuget", "sign").TryAsync(
            [
                .. Directory.EnumerateFiles(folder, "*.nupkg"), "--output", signed, "--force-english-output",
                "--certificate-path", file, "--certificate-password", password,
                .. timestamper is null ? (string[])[] : ["--timestamper", timestamper],
            ],
            cancellationToken);
        if (exitCode != 0)
        {
            throw new StackException($"--sign: dotnet nuget sign failed: {FirstError(output + errors)}");
        }
        foreach (var package in Directory.EnumerateFiles(signed))
        {
            File.Move(package, Path.Combine(folder, Path.GetFileName(package)), overwrite: true);
        }
    }

    private static string FirstError(string output)
    {
        const string error = "error: ";
        var line = Array.Find(output.Split('\n'), line => line.StartsWith(error, StringComparison.Ordinal));
        return line is null ? output.Trim() : line[error.Length..].Trim();
    }
}
