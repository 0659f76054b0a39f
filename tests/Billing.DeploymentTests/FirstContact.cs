using System.Runtime.Versioning;

namespace Billing.DeploymentTests;

/// <summary>How <c>./billing</c> handles missing programs, and when it builds again.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class FirstContact(BasicPrograms basic) : IClassFixture<BasicPrograms>, IDisposable
{
    private const string Debian = "ID=debian";
    private const string ClusterSetting = "/etc/postgresql-common/createcluster.d";

    private readonly FreshMachine _machine = new(basic);

    public void Dispose() => _machine.Dispose();

    [Theory]
    [InlineData(
        "ID=ubuntu;ID_LIKE=debian",
        $"please run: sudo sh -c 'mkdir -p {ClusterSetting}; echo create_main_cluster=false >{ClusterSetting}/billing.conf; apt-get update; " +
        "apt-get install -y --no-install-recommends postgresql xz-utils default-jre-headless; " +
        $"rm {ClusterSetting}/billing.conf'")]
    [InlineData(
        "ID=fedora",
        "please run: sudo dnf install postgresql-server xz java-latest-openjdk-headless")]
    [InlineData(
        "ID=manjaro;ID_LIKE=arch",
        "please run: sudo pacman -S --needed postgresql xz jre-openjdk-headless")]
    [InlineData("ID=void", "to run Kafka: Java 17 or newer")]
    public async Task A_user_without_rights_gets_one_message_with_all_missing_programs_and_the_command(string release, string end)
    {
        _machine.Is(release);
        _machine.Write("kafka.tar.xz", "");

        var result = await _machine.BillingAsync("run --requests 5", new Dictionary<string, string> { ["BILLING_KAFKA_ARCHIVE"] = _machine.At("kafka.tar.xz") });

        Assert.Equal(1, result.ExitCode);
        Assert.StartsWith("billing: ./billing run needs programs that this machine lacks:\n  to store events", result.Errors, StringComparison.Ordinal);
        Assert.Contains(": PostgreSQL 14 or newer\n  to unpack Kafka: xz\n  to run Kafka: Java 17 or newer\n", result.Errors, StringComparison.Ordinal);
        Assert.EndsWith(end + "\n", result.Errors, StringComparison.Ordinal);
        Assert.Empty(_machine.Builds);
    }

    [Fact]
    public async Task A_missing_SDK_is_listed_with_the_other_programs_and_those_that_may_be_needed()
    {
        _machine.Is("ID=fedora");
        _machine.Remove("dotnet");
        _machine.AddPostgres("bin", 18);

        var result = await _machine.BillingAsync("up");

        Assert.Equal(1, result.ExitCode);
        Assert.Contains("  to build and run: the .NET SDK 10\n  to download Kafka: curl\n", result.Errors, StringComparison.Ordinal);
        Assert.Contains("please run: sudo dnf install dotnet-sdk-10.0 curl java-latest-openjdk-headless\n", result.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("PostgreSQL", result.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Programs_that_a_command_does_not_need_are_not_required()
    {
        _machine.Is(Debian);
        _machine.AddPostgres("system/usr/lib/postgresql/17/bin", 17);

        var result = (await _machine.BillingAsync("run --kafka embedded")).Succeeded();

        Assert.DoesNotContain("needs", result.Errors, StringComparison.Ordinal);
        Assert.EndsWith("Billing.Cli.dll run --kafka embedded", _machine.Builds[^2], StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_PostgreSQL_that_is_too_old_counts_as_missing()
    {
        _machine.Is("ID=arch");
        _machine.AddPostgres("bin", 13);

        var result = await _machine.BillingAsync("run --kafka embedded");

        Assert.Equal(1, result.ExitCode);
        Assert.Contains("PostgreSQL 14 or newer\nplease run: sudo pacman -S --needed postgresql\n", result.Errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Root_and_sudo_without_password_install_everything_at_once_and_create_no_system_database(bool asRoot)
    {
        _machine.Is(Debian);
        var environment = _machine.WithKafka();
        _machine.Remove("java");
        _machine.AddPostgres("later", 15);
        _machine.AddProgram("apt-get", $$"""
            [[ $1 == update ]] || echo "$@ with $(cat "$BILLING_SYSTEM_ROOT{{ClusterSetting}}/billing.conf")" >>"$MACHINE/apt.log"
            mkdir -p "$BILLING_SYSTEM_ROOT/usr/lib/postgresql/15"
            mv "$MACHINE/later" "$BILLING_SYSTEM_ROOT/usr/lib/postgresql/15/bin" 2>/dev/null || true
            """);
        if (!asRoot)
        {
            _machine.AddProgram("sudo", "[[ $1 == -n ]] && shift && exec \"$@\"");
        }

        (await _machine.BillingAsync("run", environment, asRoot)).Succeeded();

        var install = Assert.Single(File.ReadAllLines(_machine.At("apt.log")));
        Assert.EndsWith(" postgresql default-jre-headless with create_main_cluster = false", install, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_machine.At("system" + ClusterSetting)));
        Assert.Contains(_machine.Builds, line => line.EndsWith("Billing.Cli.dll run", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("test Billing.IntegrationTests", null, false)]
    [InlineData("test --install Billing.IntegrationTests", null, true)]
    [InlineData("test Billing.IntegrationTests", "y", true)]
    [InlineData("test Billing.IntegrationTests", "", false)]
    public async Task A_browser_is_installed_on_request_or_after_a_question(string arguments, string? answer, bool installed)
    {
        _machine.Is(Debian);
        _machine.AddPostgres("bin", 17);
        _machine.AddProgram("sudo", "[[ $1 == -n ]] && shift && exec \"$@\"");
        _machine.Write("apt.log", "");
        _machine.AddProgram("apt-get", """echo "$@" >>"$MACHINE/apt.log" """);
        _machine.Write("clone/tests/Billing.IntegrationTests/Billing.IntegrationTests.csproj", "");

        // The tests then fail: nothing was really built.
        var result = await _machine.BillingAsync(arguments, _machine.WithKafka(), answer: answer);

        Assert.Equal(installed, File.ReadAllLines(_machine.At("apt.log")).Any(line => line.EndsWith(" chromium nodejs npm", StringComparison.Ordinal)));
        Assert.Equal(answer is not null, result.Output.Contains("install chromium nodejs npm to test the live page in a browser?", StringComparison.Ordinal));
        Assert.Equal(
            !installed, (result.Output + result.Errors).Contains("continuing without chromium nodejs npm", StringComparison.Ordinal));
        Assert.Contains(_machine.Builds, line => line.StartsWith("build ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_new_source_file_causes_a_build_and_a_report_in_the_checkout_does_not()
    {
        _machine.Is(Debian);
        _machine.AddPostgres("bin", 17);
        var environment = _machine.WithKafka();
        environment["KAFKA_HOME"] = _machine.At("kafka");

        (await _machine.BillingAsync("run --report r.json", environment)).Succeeded();
        var first = CountBuilds();
        _machine.Write("clone/r.json", "{}");
        _machine.Write("clone/results/run-1/result.json", "{}");
        (await _machine.BillingAsync("run --report r.json", environment)).Succeeded();
        var second = CountBuilds();
        _machine.Write("clone/src/Program.cs", "return 0;");
        (await _machine.BillingAsync("run", environment)).Succeeded();

        Assert.Equal((1, 1, 2), (first, second, CountBuilds()));
    }

    [Fact]
    public async Task A_change_of_the_deployment_causes_a_build_of_its_tests()
    {
        _machine.Is(Debian);
        _machine.AddPostgres("bin", 17);
        var environment = _machine.WithKafka();
        _machine.Write("clone/tests/Billing.DeploymentTests/Billing.DeploymentTests.csproj", "");

        // The tests fail, since nothing was really built.
        _machine.Write("clone/deploy/Rehearsal/Program.cs", "return 0;");
        await _machine.BillingAsync("test Billing.DeploymentTests", environment);
        await _machine.BillingAsync("test Billing.DeploymentTests", environment);
        var first = CountBuilds();
        _machine.Write("clone/deploy/Rehearsal/Program.cs", "return 1;");
        await _machine.BillingAsync("test Billing.DeploymentTests", environment);

        Assert.Equal((1, 2), (first, CountBuilds()));
    }

    [Fact]
    public async Task Analyzers_run_in_builds_for_tests_only()
    {
        _machine.Is(Debian);
        _machine.AddPostgres("bin", 17);

        (await _machine.BillingAsync("run --kafka embedded")).Succeeded();
        // The test programs do not exist, since nothing was really built.
        await _machine.BillingAsync("test --fast");

        var builds = _machine.Builds.Where(line => line.StartsWith("build ", StringComparison.Ordinal)).ToList();
        Assert.Equal([true, false], builds.Select(line => line.Contains("-p:RunAnalyzers=false", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_registry_that_does_not_answer_is_queried_briefly_and_not_again_within_the_hour()
    {
        _machine.Is(Debian);
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
        Assert.Contains("the package registry does not answer (no answer in time): building with packages that NuGet has kept", first.Errors, StringComparison.Ordinal);
        Assert.Contains(".unanswered to query it again", second.Errors, StringComparison.Ordinal);
        Assert.StartsWith(third.Errors, first.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_registry_that_answers_has_time_for_downloads()
    {
        _machine.Is(Debian);
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
        _machine.Is(Debian);

        (await _machine.BillingAsync("status", new Dictionary<string, string> { ["HTTP_PROXY"] = "http://proxy:3128", ["NO_PROXY"] = "intranet" })).Succeeded();

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
