namespace Billing.DeploymentTests;

/// <summary>Shell scripts are checked before a machine runs them.</summary>
public sealed class ShellScripts
{
    [Fact]
    public async Task Shellcheck_finds_no_problem_in_any_script()
    {
        var shellcheck = ExternalTool.Need("shellcheck");

        (await ExternalTool.RunAsync(
            shellcheck,
            ["-x", "billing", ".ci/run", .. Repository.Files("deploy", "*.sh")])).Succeeded();
    }

    [Fact]
    public async Task Shellcheck_finds_a_planted_mistake()
    {
        var shellcheck = ExternalTool.Need("shellcheck");
        var script = Path.GetTempFileName();
        await File.WriteAllTextAsync(script, "#!/bin/sh\nrm -rf $1/var\n", TestContext.Current.CancellationToken);

        var result = await ExternalTool.RunAsync(shellcheck, [script]);
        File.Delete(script);

        Assert.NotEqual(0, result.ExitCode);
        Assert.Contains("SC2086", result.Output, StringComparison.Ordinal);
    }
}
