using Billing.Cli.Release.Archives;
using Billing.Cli.Setup;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Operator.Files;

namespace Billing.Cli.Release;

/// <summary>Builds a release: an archive of each program for each architecture, those of the brokers, the bootstrap and
/// the deployment, the SDK's packages, the contracts; with bills of materials, provenance and checksums. The same
/// commit gives the same bytes in any folder.</summary>
internal sealed class ReleaseBuild(Workspace workspace, ReleaseOptions options, Sources sources)
{
    /// <summary>Records what this needs of the machine.</summary>
    public static void Require(Needs needs) =>
        needs.Program("readelf", "binutils", "to find out which libraries a program needs");

    /// <summary>Builds the release, and puts it in the place of an earlier one.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var kafka = KafkaHome();
        using var only = await FileLock.AcquireAsync(Path.Combine(workspace.State, "release.lock"), cancellationToken);
        await using var staging = TemporaryFolder.In(workspace.State);
        var folder = Directory.CreateDirectory(staging.File("release")).FullName;

        await PackProgramsAsync(staging.Path, folder, cancellationToken);
        Messages.Say("packing Kafka ...");
        await new KafkaArchive(workspace.Root, kafka, sources.Time).PackAsync(staging.Path, folder, cancellationToken);
        await PackProtosAsync(staging.Path, folder, cancellationToken);
        await new BootstrapArchive(workspace.Root, options.Version, sources.Time).PackAsync(
            staging.Path, folder, cancellationToken);
        await new DeploymentArchive(workspace.Root, options.Version, sources.Time)
            .PackAsync(staging.Path, folder, cancellationToken);
        var sdk = new SdkPackages(workspace, options.Version, sources);
        await sdk.PackAsync(folder, cancellationToken);
        await sdk.TryAsync(folder, cancellationToken);
        File.Copy(
            Path.Combine(workspace.Root, "docs/openapi.json"),
            Path.Combine(folder, $"billing-{options.Version}.openapi.json"));
        await CertifyAsync(folder, cancellationToken);
        Replace(folder);
        Messages.Say($"the release is in {options.Output}");
        if (sources.Changes.Length > 0)
        {
            Messages.Say($"its provenance says that there were changes since the commit {sources.Commit}");
        }
    }

    /// <summary>Signs the packages of the release that was built.</summary>
    public async Task SignAsync(PackageSignature signature, CancellationToken cancellationToken)
    {
        Messages.Say("signing the NuGet packages ...");
        await signature.SignAsync(options.Output, cancellationToken);
        await CertifyAsync(options.Output, cancellationToken);
    }

    private async Task CertifyAsync(string folder, CancellationToken cancellationToken)
    {
        var sdk = await new Tool(DotnetProgram.Launcher) { Folder = workspace.Root }.RunAsync(
            ["--version"], cancellationToken);
        await new Provenance(options, sources, sdk.Trim(), KafkaHome()).WriteAsync(folder, cancellationToken);
        await Checksums.WriteAsync(folder, cancellationToken);
    }

    private static string KafkaHome() => KafkaPrograms.FindHome()
        ?? throw new StackException(
            "a release contains Kafka, and none was found (KAFKA_HOME, BILLING_KAFKA_ARCHIVE, download)");

    private async Task PackProgramsAsync(string staging, string folder, CancellationToken cancellationToken)
    {
        var made = 0;
        foreach (var architecture in options.Architectures)
        {
            var published = await new Publishing(workspace, options.Version).RunAsync(architecture, cancellationToken);
            if (!await Publishing.HasLibrdkafkaAsync(
                published(ReleasedProgram.All[0]), architecture, cancellationToken))
            {
                LeaveOut(architecture, "the package librdkafka.redist has no library for it");
                continue;
            }
            foreach (var program in ReleasedProgram.All)
            {
                await new ProgramArchive(workspace.Root, program, options.Version, architecture, sources.Time)
                    .PackAsync(published(program), staging, folder, cancellationToken);
            }
            made++;
        }
        if (made == 0)
        {
            throw new StackException("a release cannot be built here for any architecture");
        }
    }

    // In one tree, since wire.proto imports billing.proto.
    private async Task PackProtosAsync(string staging, string folder, CancellationToken cancellationToken)
    {
        var top = Directory.CreateDirectory(Path.Combine(staging, "protos")).FullName;
        foreach (var project in (string[])["Contracts", "Messaging"])
        {
            await new Tool("cp").RunAsync(
                ["-r", "--", Path.Combine(workspace.Root, "src", project, "Protos", "billing"), top + "/"],
                cancellationToken);
        }
        await Archive.PackAsync(
            top, "billing", Path.Combine(folder, $"billing-protos-{options.Version}.tar.gz"),
            sources.Time, cancellationToken);
    }

    private void LeaveOut(string architecture, string why)
    {
        if (options.AreArchitecturesChosen)
        {
            throw new StackException($"--architectures: {architecture} cannot be built: {why}");
        }
        Messages.Say($"{architecture} is left out: {why}");
    }

    // The folder holds only files of an earlier release; the options have been checked.
    private void Replace(string folder)
    {
        foreach (var old in Directory.EnumerateFiles(options.Output))
        {
            File.Delete(old);
        }
        foreach (var file in Directory.EnumerateFiles(folder))
        {
            File.Move(file, Path.Combine(options.Output, Path.GetFileName(file)));
        }
    }
}
