using System.Runtime.Versioning;
using Billing.Cli.Setup;
using Billing.Cli.Testing;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.DeploymentTests;

/// <summary>How commands handle programs that a machine lacks.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class MissingPrograms(BasicPrograms basic) : IClassFixture<BasicPrograms>, IDisposable
{
    private const string ClusterSetting = "/etc/postgresql-common/createcluster.d";

    private readonly FreshMachine _machine = new(basic);
    private readonly Dictionary<string, string> _variables = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _machine.Dispose();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_user_without_rights_gets_one_message_with_all_missing_programs_and_on_Debian_the_command(
        bool isDebian)
    {
        if (isDebian)
        {
            _machine.AddProgram("apt-get", "exit 1");
        }
        _machine.Write("kafka.tar.xz", "");
        _variables["BILLING_KAFKA_ARCHIVE"] = _machine.At("kafka.tar.xz");

        var refused = await Assert.ThrowsAsync<StackException>(() => PrepareAsync(Run));

        Assert.Equal(
            "./billing run needs programs that this machine lacks:\n  to store events; no system server is created: "
                + "PostgreSQL 14 or newer\n" +
            "  to unpack Kafka: xz\n  to run Kafka: Java 17 or newer" + (isDebian
                ? $"\nplease run: sudo sh -c 'mkdir -p {ClusterSetting}; "
                    + $"echo create_main_cluster=false >{ClusterSetting}/billing.conf; apt-get update; "
                    + "apt-get install -y --no-install-recommends postgresql xz-utils default-jre-headless; "
                    + $"rm {ClusterSetting}/billing.conf'"
                : ""),
            refused.Message);
    }

    [Fact]
    public async Task Several_PostgreSQL_servers_need_Patroni_and_etcd()
    {
        AddKafka();
        _machine.AddPostgres("system/usr/lib/postgresql/17/bin", 17);

        var refused = await Assert.ThrowsAsync<StackException>(() => PrepareAsync(Run with { Failover = true }));

        Assert.Contains(
            "to let a standby take over from a lost PostgreSQL server: patroni\n",
            refused.Message, StringComparison.Ordinal);
        Assert.Contains(
            "to agree on the primary of several PostgreSQL servers (https://etcd.io; set BILLING_ETCD_BIN",
            refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Programs_that_a_command_does_not_need_are_not_required()
    {
        _machine.AddPostgres("system/usr/lib/postgresql/17/bin", 17);

        var variables = await PrepareAsync(Run with { Kafka = false, KafkaFiles = false });

        Assert.Equal(
            (PostgresPrograms.FolderVariable, _machine.At("system/usr/lib/postgresql/17/bin")),
            (Assert.Single(variables).Key, variables.Values.Single()));
    }

    [Fact]
    public async Task A_PostgreSQL_that_is_too_old_counts_as_missing()
    {
        _machine.AddPostgres("bin", 13);

        var refused = await Assert.ThrowsAsync<StackException>(
            () => PrepareAsync(Run with { Kafka = false, KafkaFiles = false }));

        Assert.EndsWith("PostgreSQL 14 or newer", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Root_and_sudo_without_password_install_everything_at_once_and_create_no_system_database(
        bool asRoot)
    {
        AddKafka();
        _machine.Remove("java");
        _machine.AddPostgres("later", 15);
        _machine.AddProgram("apt-get", $$"""
            [[ $1 == update ]] ||
              echo "$@ with $(cat "{{_machine.At("system")}}{{ClusterSetting}}/billing.conf")" \
                >>"{{_machine.At("apt.log")}}"
            mkdir -p "{{_machine.At("system")}}/usr/lib/postgresql/15"
            mv "{{_machine.At("later")}}" "{{_machine.At("system")}}/usr/lib/postgresql/15/bin" 2>/dev/null || true
            """);
        _machine.AddProgram("sudo", "[[ $1 == -n ]] && shift && exec \"$@\"");

        var variables = await PrepareAsync(Run, asRoot);

        var install = Assert.Single(await File.ReadAllLinesAsync(_machine.At("apt.log"), Token));
        Assert.EndsWith(
            " postgresql default-jre-headless with create_main_cluster = false", install, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_machine.At("system" + ClusterSetting)));
        Assert.Equal(_machine.At("kafka"), variables[KafkaPrograms.HomeVariable]);
        Assert.Equal(_machine.At("system/usr/lib/postgresql/15/bin"), variables[PostgresPrograms.FolderVariable]);
    }

    [Fact]
    public async Task An_archive_of_Kafka_is_unpacked_once()
    {
        AddKafka();
        (await ExternalTool.RunAsync("tar", ["-C", _machine.At("kafka"), "-czf", _machine.At("kafka.tgz"), "libs"]))
            .Succeeded();
        _variables.Clear();
        _variables["BILLING_KAFKA_ARCHIVE"] = _machine.At("kafka.tgz");
        var files = new CommandSetup.ServerNeeds(
            "package", Postgres: false, Kafka: false, KafkaFiles: true, Prometheus: false);

        var first = await PrepareAsync(files);
        _variables["BILLING_KAFKA_ARCHIVE"] = _machine.At("nothing.tgz");
        var second = await PrepareAsync(files);

        Assert.Equal(_machine.At("home/kafka-" + KafkaPrograms.Version), first[KafkaPrograms.HomeVariable]);
        Assert.Equal(first, second);
    }

    [Fact]
    public async Task An_archive_that_is_not_there_or_holds_something_else_is_an_error_that_names_it()
    {
        var files = new CommandSetup.ServerNeeds(
            "package", Postgres: false, Kafka: false, KafkaFiles: true, Prometheus: false);
        _variables["BILLING_KAFKA_ARCHIVE"] = _machine.At("nothing.tgz");
        var absent = await Assert.ThrowsAsync<StackException>(() => PrepareAsync(files));
        (await ExternalTool.RunAsync("tar", ["-C", _machine.At("home"), "-czf", _machine.At("nothing.tgz"), "."]))
            .Succeeded();

        var other = await Assert.ThrowsAsync<StackException>(() => PrepareAsync(files));

        Assert.Equal($"BILLING_KAFKA_ARCHIVE names {_machine.At("nothing.tgz")}, which does not exist", absent.Message);
        Assert.Contains("has no libs/kafka-server-*.jar", other.Message, StringComparison.Ordinal);
        Assert.Empty(Directory.EnumerateDirectories(_machine.At("home"), ".billing.*"));
    }

    [Theory]
    [InlineData(false, null, false)]
    [InlineData(true, null, true)]
    [InlineData(false, "y", true)]
    [InlineData(false, "", false)]
    public async Task A_browser_is_installed_on_request_or_after_a_question(
        bool install, string? answer, bool installed)
    {
        _machine.AddProgram("sudo", "[[ $1 == -n ]] && shift && exec \"$@\"");
        _machine.Write("apt.log", "");
        _machine.AddProgram("apt-get", $"""echo "$@" >>"{_machine.At("apt.log")}" """);
        var questions = new List<string>();
        var clone = new Workspace(_machine.At("clone"), _machine.At("working"), _machine.At("home"), "");
        var programs = new TestPrograms(
            clone, new Installer(NewMachine(asRoot: false), clone.State), install, answer is null ? null : question =>
            {
                questions.Add(question);
                return answer;
            });

        await programs.BrowserAsync(Token);

        Assert.Equal(installed, (await File.ReadAllLinesAsync(_machine.At("apt.log"), Token))
            .Any(line => line.EndsWith(" chromium nodejs npm", StringComparison.Ordinal)));
        Assert.Equal(
            answer is null ? [] :
            [
                "billing: install chromium nodejs npm to test the live page in a browser? It takes about 500 MB [y/N] ",
            ],
            questions);
    }

    private static CommandSetup.ServerNeeds Run { get; } = new(
        "run", Postgres: true, Kafka: true, KafkaFiles: true, Prometheus: false);

    private Task<Dictionary<string, string?>> PrepareAsync(CommandSetup.ServerNeeds servers, bool asRoot = false) =>
        new CommandSetup(NewMachine(asRoot), _machine.At("working"), _machine.At("home")).PrepareAsync(servers, Token);

    private SystemPrograms NewMachine(bool asRoot) => new(
        name => name switch
        {
            "PATH" => _machine.Path,
            "BILLING_CACHE" => _machine.At("home"),
            _ => _variables.GetValueOrDefault(name),
        },
        _machine.At("system"), asRoot);

    private void AddKafka()
    {
        _machine.Write("kafka/libs/kafka-server-4.1.0.jar", "");
        _machine.AddProgram("java", "echo 'openjdk version \"21.0.1\"'");
        _variables["KAFKA_HOME"] = _machine.At("kafka");
    }
}
