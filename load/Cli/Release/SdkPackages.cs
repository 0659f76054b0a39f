using Billing.Cli.Release.Archives;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Release;

/// <summary>The NuGet packages of the SDK, with symbols.</summary>
internal sealed class SdkPackages(Workspace workspace, string version, Sources sources)
{
    // Those of eng/NuGet.props. A program for an older one runs on this machine's.
    private static readonly string[] Frameworks = ["net8.0", "net10.0"];

    private const string Program = """
        using Billing.Client;
        using Billing.Client.Testing;

        var payment = new Payment(new CardAccount(CardNetwork.Visa, "acct-42"), new Amount(12.34m, "USD"));
        var result = await new InMemoryBilling().PayAsync(payment);
        var options = new BillingClientOptions { Proxies = { "http://127.0.0.1:1" }, RetriesMax = 0 };
        using var client = new BillingClient(options);
        Console.WriteLine($"{result.Status} {(await client.PayAsync(payment)).Status} {payment.Id.ToString()[14]}");
        """;

    private const string Printed = "Accepted Unknown 7";

    private readonly string _log = Path.Combine(workspace.State, "sdk.log");

    // In its own folder: assemblies of ordinary builds contain paths of this machine.
    private readonly string _artifacts = Path.Combine(workspace.Root, "artifacts", "packing");

    public async Task PackAsync(string release, CancellationToken cancellationToken)
    {
        File.Delete(_log);
        var dotnet = new Tool(DotnetProgram.Launcher)
        {
            Folder = workspace.Root,
            Environment = new Dictionary<string, string> { [Sources.TimeVariable] = sources.Epoch },
        };
        foreach (var project in (string[])["Contracts", "Client"])
        {
            await Progress.RunAsync(
                $"packing Billing.{project}", _log, dotnet,
                [
                    "pack", $"src/{project}/Billing.{project}.csproj", "-c", "Release", "--nologo",
                    "-v", "quiet", "--disable-build-servers",
                    "-o", release, "-p:PackageAnswer=" + workspace.PackageAnswer, "-p:ReleaseVersion=" + version,
                    "-p:ContinuousIntegrationBuild=true", "-p:ArtifactsPath=" + _artifacts, "-p:EveryFramework=true",
                ],
                $"packing Billing.{project} failed; the output is in {_log}", cancellationToken);
        }
    }

    /// <summary>Checks that a program needs only the client's package and the packages that
    /// restore kept for it.</summary>
    public async Task TryAsync(string release, CancellationToken cancellationToken)
    {
        foreach (var framework in Frameworks)
        {
            await TryAsync(release, framework, cancellationToken);
        }
    }

    private async Task TryAsync(string release, string framework, CancellationToken cancellationToken)
    {
        await using var folder = TemporaryFolder.In(workspace.State);
        // Without the repository's settings.
        foreach (var file in (string[])["Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props"])
        {
            await File.WriteAllTextAsync(folder.File(file), "<Project />\n", cancellationToken);
        }
        await File.WriteAllTextAsync(
            folder.File("try.csproj"), Project(release, framework, folder.File("packages")), cancellationToken);
        await File.WriteAllTextAsync(folder.File("Program.cs"), Program, cancellationToken);
        var dotnet = new Tool(DotnetProgram.Launcher) { Folder = folder.Path };
        await Progress.RunAsync(
            $"testing Billing.Client for {framework}", _log, dotnet,
            [
                "build", "try.csproj", "-o", folder.File("out"), "--nologo", "-v", "quiet", "--disable-build-servers",
                "-p:PackageAnswer=" + workspace.PackageAnswer,
            ],
            $"a program for {framework} cannot be built with only Billing.Client; the output is in {_log}",
            cancellationToken);
        if ((await dotnet.RunAsync([folder.File("out/try.dll")], cancellationToken)).TrimEnd() != Printed)
        {
            throw new StackException(
                $"a program for {framework} that uses only Billing.Client did not print the expected results");
        }
    }

    private string Project(string release, string framework, string packages) => $"""
        <Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>
        <TargetFramework>{framework}</TargetFramework><RollForward>Major</RollForward><OutputType>Exe</OutputType>
        <ImplicitUsings>enable</ImplicitUsings><UseAppHost>false</UseAppHost><NuGetAudit>false</NuGetAudit>
        <RestoreSources>{release}</RestoreSources>
        <RestoreFallbackFolders>{Publishing.PackagesOf(_artifacts, "Billing.Client")}</RestoreFallbackFolders>
        <RestorePackagesPath>{packages}</RestorePackagesPath></PropertyGroup><ItemGroup>
        <PackageReference Include="Billing.Client" Version="{version}" />
        </ItemGroup></Project>
        """;
}
