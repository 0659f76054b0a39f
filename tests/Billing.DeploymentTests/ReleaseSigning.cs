using System.IO.Compression;
using System.Runtime.Versioning;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Nodes;
using Billing.Cli.Release;
using Billing.Cli.Release.Archives;
using Billing.Cli.Setup;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;

namespace Billing.DeploymentTests;

/// <summary>Signing NuGet packages, with certificates of the tests' own.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class ReleaseSigning : IDisposable
{
    private const string CodeSigning = "1.3.6.1.5.5.7.3.3";
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";
    private const string Signature = ".signature.p7s";

    private readonly string _folder = Directory.CreateTempSubdirectory("billing-signing-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Packages_are_signed_with_the_certificate_and_otherwise_stay_as_they_are()
    {
        var (file, thumbprint) = Certificate(CodeSigning, "a password");
        var package = WritePackage("some.package.1.0.0.nupkg");
        var symbols = WritePackage("some.package.1.0.0.snupkg");
        var before = Entries(package);

        await PackageSignature.Read(file, "a password", timestamper: null)
            .SignAsync(_folder, TestContext.Current.CancellationToken);

        Assert.Equal([.. before, Signature], Entries(package));
        Assert.Equal(before, Entries(symbols));
        // Its exit code is not 0: nobody trusts a certificate of a test. Everything else about the signature is right.
        var verification = await ExternalTool.RunAsync(
            "dotnet", ["nuget", "verify", package, "--force-english-output"]);
        Assert.Contains($"hash: {thumbprint}", verification.Output, StringComparison.Ordinal);
        Assert.Equal(
            ["error: NU3018: The author primary signature's signing certificate is not trusted by the trust provider."],
            verification.Output.Split('\n').Where(line => line.StartsWith("error", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Provenance_and_checksums_of_a_release_are_those_of_its_signed_packages()
    {
        Assert.SkipWhen(KafkaPrograms.FindHome() is null, "there is no Kafka here");
        var (file, _) = Certificate(CodeSigning, "");
        var release = Directory.CreateDirectory(PathOf("release")).FullName;
        var package = WritePackage("release/some.package.1.0.0.nupkg");
        var unsigned = Checksums.Of(package);
        var options = new ReleaseOptions
        {
            Version = "1.0.0",
            Architectures = ["linux-x64"],
            AreArchitecturesChosen = true,
            Output = release,
        };
        var sources = new Sources(DateTimeOffset.UnixEpoch, Commit: null, Changes: "");

        await new ReleaseBuild(new Workspace(Repository.Root, _folder, _folder, ""), options, sources)
            .SignAsync(
                PackageSignature.Read(file, password: null, timestamper: null), TestContext.Current.CancellationToken);

        Assert.NotEqual(unsigned, Checksums.Of(package));
        (await ExternalTool.RunAsync("sha256sum", ["--check", "--strict", Checksums.FileName], release)).Succeeded();
        var provenance = JsonNode.Parse(File.ReadAllText(Path.Combine(release, "billing-1.0.0.provenance.json")));
        Assert.Equal(Checksums.Of(package), provenance.Text("subject.0.digest.sha256"));
    }

    [Fact]
    public void A_file_that_is_missing_or_whose_password_is_another_is_refused_in_one_line()
    {
        var (file, _) = Certificate(CodeSigning, "a password");

        AssertRefused($"--sign: {file} cannot be read with the password in BILLING_SIGN_PASSWORD: ", file);
        AssertRefused($"--sign: {file} cannot be read with the password in BILLING_SIGN_PASSWORD: ", file, "another");
        AssertRefused($"--sign: {PathOf("none.pfx")} cannot be read", PathOf("none.pfx"));
        File.WriteAllText(PathOf("text.pfx"), "no certificate");
        AssertRefused($"--sign: {PathOf("text.pfx")} cannot be read", PathOf("text.pfx"));
    }

    [Fact]
    public void A_certificate_without_its_key_is_refused()
    {
        var (file, _) = Certificate(CodeSigning, "", hasKey: false);

        AssertRefused($"--sign: {file} has no private key", file);
    }

    [Fact]
    public async Task A_certificate_that_is_not_for_signing_code_is_refused_and_nothing_is_signed()
    {
        var (file, _) = Certificate(ServerAuthentication, "");
        var package = WritePackage("some.package.1.0.0.nupkg");

        var e = await Assert.ThrowsAsync<StackException>(
            () => PackageSignature.Read(file, password: null, timestamper: null)
                .SignAsync(_folder, TestContext.Current.CancellationToken));

        Assert.StartsWith("--sign: dotnet nuget sign failed: NU3018", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', e.Message);
        Assert.DoesNotContain(Signature, Entries(package));
    }

    private static void AssertRefused(string message, string file, string? password = null)
    {
        var e = Assert.Throws<StackException>(() => PackageSignature.Read(file, password, timestamper: null));

        Assert.StartsWith(message, e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', e.Message);
    }

    private string PathOf(string file) => Path.Combine(_folder, file);

    private (string File, string Thumbprint) Certificate(string usage, string password, bool hasKey = true)
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(
            "CN=Billing test", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(usage)], critical: true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        var now = TimeProvider.System.GetUtcNow();
        using var certificate = request.CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        using var alone = X509CertificateLoader.LoadCertificate(certificate.RawData);
        var file = PathOf("certificate.pfx");
        File.WriteAllBytes(
            file, (hasKey ? certificate : alone).ExportPkcs12(Pkcs12ExportPbeParameters.Default, password));
        return (file, certificate.GetCertHashString(HashAlgorithmName.SHA256));
    }

    private string WritePackage(string name)
    {
        using var archive = ZipFile.Open(PathOf(name), ZipArchiveMode.Create);
        using var manifest = new StreamWriter(archive.CreateEntry("some.package.nuspec").Open());
        manifest.Write("""
            <package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
              <metadata>
                <id>some.package</id><version>1.0.0</version><authors>a</authors><description>d</description>
              </metadata>
            </package>
            """);
        return PathOf(name);
    }

    private static string[] Entries(string package)
    {
        using var archive = ZipFile.OpenRead(package);
        return [.. archive.Entries.Select(entry => entry.FullName)];
    }
}
