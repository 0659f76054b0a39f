using System.Runtime.InteropServices;
using Billing.Chaos;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Measuring.Soaks;
using Spectre.Console;

namespace Billing.UnitTests.LocalStack;

public sealed class ReleaseTests : IDisposable
{
    private static readonly string Machine =
        RuntimeInformation.OSArchitecture == Architecture.Arm64 ? "linux-arm64" : "linux-x64";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-release-");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_release_says_its_version_and_the_hash_of_its_bootstrap_archive()
    {
        Describe();

        Assert.Equal(new Release(_folder.FullName, "1.0.1", "f00d"), Release.Read(_folder.FullName));
    }

    [Fact]
    public async Task The_services_are_unpacked_each_into_a_folder_of_its_name()
    {
        Describe();
        await PackAsync("proxy", "Billing.Proxy");
        await PackAsync("backend", "Billing.Backends");
        var release = Release.Read(_folder.FullName);
        var target = _folder.CreateSubdirectory("unpacked").FullName;

        release.RequireServices();
        await release.UnpackServicesAsync(target, Token);

        Assert.True(File.Exists(Path.Combine(target, "Billing.Proxy", "Billing.Proxy")));
        Assert.True(File.Exists(Path.Combine(target, "Billing.Backends", "Billing.Backends")));
    }

    [Fact]
    public async Task Chaos_names_the_option_and_what_is_missing_in_a_folder_without_a_release() => Assert.Equal(
        $"--from: {_folder.FullName} contains no release: release.auto.tfvars.json is missing. "
            + "`./billing package` creates a release.",
        await RefusalAsync());

    [Fact]
    public async Task Chaos_refuses_a_release_without_services_for_this_machine_and_names_the_archive()
    {
        Describe();
        await PackAsync("proxy", "Billing.Proxy");

        Assert.Equal(
            $"--from: {_folder.FullName} has no services for this machine: "
                + $"billing-backend-1.0.1-{Machine}.tar.gz is missing.",
            await RefusalAsync());
    }

    private async Task<string> RefusalAsync()
    {
        var chaos = new ChaosRun(
            new ChaosOptions(), _folder.FullName, new ChaosOutput("chaos", null, null),
            AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) }),
            TimeProvider.System);
        return (await Assert.ThrowsAsync<StackException>(() => chaos.RunAsync(Token))).Message;
    }

    private void Describe() => File.WriteAllText(
        Path.Combine(_folder.FullName, "release.auto.tfvars.json"),
        """{ "release_version": "1.0.1", "bootstrap_sha256": "f00d" }""");

    private async Task PackAsync(string name, string program)
    {
        var top = _folder.CreateSubdirectory($"billing-{name}-1.0.1");
        await File.WriteAllTextAsync(Path.Combine(top.FullName, program), "program", Token);
        await new Tool("tar").RunAsync(
            ["-czf", $"{top.FullName}-{Machine}.tar.gz", "-C", _folder.FullName, top.Name], Token);
    }
}
