using System.Runtime.Versioning;

namespace Billing.DeploymentTests;

/// <summary>The script <c>./billing</c>: what it does without an SDK, when it builds again, and what it asks the
/// package registry.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class FirstContact(BasicPrograms basic) : IClassFixture<BasicPrograms>, IDisposable
{
    private readonly FreshMachine _machine = new(basic);

    public void Dispose() => _machine.Dispose();

    [Fact]
    public async Task Without_an_SDK_that_can_be_installed_one_message_says_where_to_get_it()
    {
        _machine.Remove("dotnet");

        var result = await _machine.BillingAsync("up");

        Assert.Equal(1, result.ExitCode);
        Assert.Contains(
            "./billing needs the .NET SDK 10: https://learn.microsoft.com",
            Assert.Single(result.Errors.TrimEnd().Split('\n')), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_SDK_that_the_system_has_is_installed_where_that_asks_for_no_password()
    {
        _machine.Remove("dotnet");
        _machine.AddProgram("sudo", "[[ $1 == -n ]] && shift && exec \"$@\"");
        _machine.AddProgram("apt-get", """
            echo "$@" >>"$MACHINE/apt.log"
            [[ $1 == update ]] ||
              { printf '#!/bin/bash\necho 10.0.100\n' >"$MACHINE/bin/dotnet" && chmod +x "$MACHINE/bin/dotnet"; }
            """);

        (await _machine.BillingAsync("status")).Succeeded();

        Assert.Equal(
            ["update -q", "install -q -y --no-install-recommends dotnet-sdk-10.0"],
            File.ReadAllLines(_machine.At("apt.log")));
    }

    [Fact]
    public async Task A_new_source_file_causes_a_build_and_a_report_in_the_checkout_does_not()
    {
        (await _machine.BillingAsync("run --report r.json")).Succeeded();
        var first = CountBuilds();
        _machine.Write("clone/r.json", "{}");
        _machine.Write("clone/results/run-1/result.json", "{}");
        (await _machine.BillingAsync("run --report r.json")).Succeeded();
        var second = CountBuilds();
        _machine.Write("clone/src/Program.cs", "return 0;");
        (await _machine.BillingAsync("run")).Succeeded();

        Assert.Equal((1, 1, 2), (first, second, CountBuilds()));
    }

    [Fact]
    public async Task Commands_at_the_same_time_do_not_disturb_each_other()
    {
        for (var round = 0; round < 3; round++)
        {
            _machine.Write(
                "clone/Directory.Packages.props",
                $"<!-- {round} -->" + File.ReadAllText(_machine.At("clone/Directory.Packages.props")));

            (await _machine.BillingAsync("status", times: 12)).Succeeded();
        }
    }

    [Fact]
    public async Task A_change_of_the_deployment_causes_a_build_of_its_tests()
    {
        _machine.Write("clone/tests/Billing.DeploymentTests/Billing.DeploymentTests.csproj", "");

        // The tests fail, since nothing was really built.
        _machine.Write("clone/deploy/Rehearsal/Program.cs", "return 0;");
        await _machine.BillingAsync("test Billing.DeploymentTests");
        await _machine.BillingAsync("test Billing.DeploymentTests");
        var first = CountBuilds();
        _machine.Write("clone/deploy/Rehearsal/Program.cs", "return 1;");
        await _machine.BillingAsync("test Billing.DeploymentTests");

        Assert.Equal((1, 2), (first, CountBuilds()));
    }

    [Fact]
    public async Task Analyzers_run_in_builds_for_tests_only()
    {
        (await _machine.BillingAsync("run --kafka embedded")).Succeeded();
        _machine.Write("clone/tests/Billing.UnitTests/Billing.UnitTests.csproj", "");
        // The test programs do not exist, since nothing was really built.
        await _machine.BillingAsync("test --fast");

        var builds = _machine.Builds.Where(line => line.StartsWith("build ", StringComparison.Ordinal)).ToList();
        Assert.Equal(
            [true, false], builds.Select(line => line.Contains("-p:RunAnalyzers=false", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_registry_that_does_not_answer_is_queried_briefly_and_not_again_within_the_hour()
    {
        _machine.AddProgram("curl", "exit 28");
        _machine.AddProgram("timeout", """echo "$1" >>"$MACHINE/limits.log"; exit 124""");
        var environment = new Dictionary<string, string> { ["NBomberStandIn"] = "" };

        var first = (await _machine.BillingAsync("status", environment)).Succeeded();
        var second = (await _machine.BillingAsync("status", environment)).Succeeded();
        foreach (var unanswered in Directory.EnumerateFiles(_machine.At("clone/.billing/packages"), "*.unanswered"))
        {
            File.SetLastWriteTimeUtc(unanswered, TimeProvider.System.GetUtcNow().UtcDateTime - TimeSpan.FromHours(2));
        }
        var third = (await _machine.BillingAsync("status", environment)).Succeeded();

        Assert.Equal(["60", "60"], File.ReadAllLines(_machine.At("limits.log")));
        Assert.Contains(
            "the package registry does not answer (no answer in time): building with packages that NuGet has kept",
            first.Errors, StringComparison.Ordinal);
        Assert.Contains(".unanswered to query it again", second.Errors, StringComparison.Ordinal);
        Assert.StartsWith(third.Errors, first.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_registry_that_answers_has_time_for_downloads()
    {
        _machine.AddProgram("curl", """[[ " $* " == *' https://registry.example/index.json ' ]]""");
        _machine.AddProgram("timeout", """echo "$1" >>"$MACHINE/limits.log"; exit 124""");
        _machine.AddProgram("dotnet", """
            case $1 in
              --version) echo 10.0.100 ;;
              nuget) printf 'D https://disabled.example/index.json\nE https://registry.example/index.json\n' ;;
            esac
            """);

        (await _machine.BillingAsync("status", new Dictionary<string, string> { ["NBomberStandIn"] = "" })).Succeeded();

        Assert.Equal(["300"], File.ReadAllLines(_machine.At("limits.log")));
    }

    [Fact]
    public async Task An_http_proxy_is_not_used_for_loopback_addresses()
    {
        (await _machine.BillingAsync(
            "status",
            new Dictionary<string, string> { ["HTTP_PROXY"] = "http://proxy:3128", ["NO_PROXY"] = "intranet" }))
            .Succeeded();

        Assert.Contains("no_proxy=intranet,127.0.0.1,localhost NO_PROXY=intranet,127.0.0.1,localhost", _machine.Builds);
    }

    [Theory]
    [InlineData("Darwin", "docker run")]
    [InlineData("MINGW64_NT-10.0", "WSL")]
    public async Task On_an_unsupported_system_one_line_says_where_it_runs(string system, string where)
    {
        _machine.AddProgram("uname", $"echo {system}");

        var result = await _machine.BillingAsync("run");

        Assert.Equal(1, result.ExitCode);
        Assert.Contains(where, Assert.Single(result.Errors.TrimEnd().Split('\n')), StringComparison.Ordinal);
    }

    private int CountBuilds() => _machine.Builds.Count(line => line.StartsWith("build ", StringComparison.Ordinal));
}
