using System.Text.RegularExpressions;

namespace Billing.DeploymentTests.Bootstrap;

/// <summary>The systemd units that machines get, checked by systemd itself.</summary>
public sealed partial class UnitFiles
{
    // The highest allowed exposure of a service, out of 100: ours have 16; a Debian service without any
    // hardening has 96.
    private const string ExposureMax = "25";

    private static readonly string Folder = Path.Combine(Repository.Root, "deploy/bootstrap/units");

    public static TheoryData<string> Units { get; } =
    [
        .. Directory.EnumerateFiles(Folder, "billing-*").Select(path => Path.GetFileName(path)),
    ];

    public static TheoryData<string> Services { get; } =
    [
        .. new[]
        {
            "billing-proxy.service", "billing-backend.service", "billing-webhooks.service", "billing-kafka.service",
        },
    ];

    [Theory]
    [MemberData(nameof(Units))]
    public async Task Systemd_understands_every_line_of_a_unit(string unit) =>
        Assert.Empty(await VerifyAsync(unit, await ReadAsync(unit)));

    [Theory]
    [InlineData("Restart=on-failure", "Restart=on-failur", "Failed to parse")]
    [InlineData("NoNewPrivileges=yes", "NoNewPrivilege=yes", "Unknown key")]
    [InlineData("MemoryMax=600M", "MemoryMax=600 megabytes", "Invalid memory limit")]
    [InlineData("[Service]", "[Servise]", "Unknown section 'Servise'")]
    public async Task A_broken_unit_is_found(string sound, string broken, string finding)
    {
        var text = await ReadAsync("billing-proxy.service");
        Assert.Contains(sound, text, StringComparison.Ordinal);

        Assert.Contains(
            finding, await VerifyAsync("billing-proxy.service", text.Replace(sound, broken, StringComparison.Ordinal)),
            StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Services))]
    public async Task A_service_has_a_low_exposure(string unit) =>
        (await ExposureAsync(unit, await ReadAsync(unit))).Succeeded();

    [Fact]
    public async Task A_service_without_hardening_is_found()
    {
        var text = Hardening().Replace(await ReadAsync("billing-proxy.service"), "");

        Assert.NotEqual(0, (await ExposureAsync("billing-proxy.service", text)).ExitCode);
    }

    /// <summary>Exit code 2 means invalid settings; after any other failure, a service is
    /// restarted without a limit.</summary>
    [Theory]
    [MemberData(nameof(Services))]
    public async Task A_failed_service_is_restarted_without_a_limit(string unit)
    {
        var lines = (await ReadAsync(unit)).Split('\n');

        Assert.Contains("Restart=on-failure", lines);
        Assert.Contains("StartLimitIntervalSec=0", lines);
        Assert.Equal(unit != "billing-kafka.service", lines.Contains("RestartPreventExitStatus=2"));
    }

    private static Task<string> ReadAsync(string unit) =>
        File.ReadAllTextAsync(Path.Combine(Folder, unit), TestContext.Current.CancellationToken);

    // The unit's program is not on this machine; the rehearsal shows that it can be started.
    private static async Task<string> VerifyAsync(string unit, string text)
    {
        var analyze = ExternalTool.Need("systemd-analyze");
        var folder = Directory.CreateTempSubdirectory();
        var file = Path.Combine(folder.FullName, unit);
        await File.WriteAllTextAsync(
            file, Command().Replace(text, "ExecStart=/bin/true"), TestContext.Current.CancellationToken);
        if (unit.EndsWith(".timer", StringComparison.Ordinal))
        {
            var service = Path.ChangeExtension(unit, ".service");
            await File.WriteAllTextAsync(
                Path.Combine(folder.FullName, service),
                Command().Replace(await ReadAsync(service), "ExecStart=/bin/true"),
                TestContext.Current.CancellationToken);
        }
        var result = await ExternalTool.RunAsync(
            analyze, ["verify", "--man=no", file],
            environment: new Dictionary<string, string> { ["SYSTEMD_UNIT_PATH"] = folder.FullName + ":" });
        folder.Delete(recursive: true);
        return string.Join('\n', (result.Output + result.Errors).Split('\n').Where(line =>
            line.Contains(folder.FullName, StringComparison.Ordinal)
            || line.StartsWith("billing-", StringComparison.Ordinal)));
    }

    private static async Task<ToolResult> ExposureAsync(string unit, string text)
    {
        var analyze = ExternalTool.Need("systemd-analyze");
        var folder = Directory.CreateTempSubdirectory();
        var file = Path.Combine(folder.FullName, unit);
        await File.WriteAllTextAsync(file, text, TestContext.Current.CancellationToken);
        var result = await ExternalTool.RunAsync(
            analyze, ["security", "--offline=true", "--no-pager", "--threshold=" + ExposureMax, file]);
        folder.Delete(recursive: true);
        Assert.SkipWhen(
            result.Errors.Contains("unrecognized option", StringComparison.Ordinal),
            "systemd-analyze here is older than 250 and cannot judge files");
        return result;
    }

    [GeneratedRegex("""^ExecStart=(.*\\\n)*.*$""", RegexOptions.Multiline)]
    private static partial Regex Command();

    [GeneratedRegex(
        "^(Protect|Private|Restrict|SystemCall|Capability|NoNew|Lock|Remove|UMask).*$", RegexOptions.Multiline)]
    private static partial Regex Hardening();
}
