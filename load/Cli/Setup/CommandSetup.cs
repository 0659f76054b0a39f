using System.CommandLine;
using System.CommandLine.Parsing;
using Billing.Cli.Monitoring;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;

namespace Billing.Cli.Setup;

/// <summary>What a command needs on this machine, installed or fetched before it begins: the servers that it starts,
/// unless the user names running ones.</summary>
internal sealed class CommandSetup
{
    private static readonly string[] WithStack = ["run", "up", "chaos", "misuse", "load", "trace", "sweep", "compare"];

    private readonly Installer _installer;
    private readonly KafkaFiles _kafka;
    private readonly UnpackedPackage _prometheus;
    private readonly UnpackedPackage _etcd;

    public CommandSetup(SystemPrograms machine, string state, string cache)
    {
        _installer = new Installer(machine, state);
        _kafka = new KafkaFiles(machine, cache);
        _prometheus = UnpackedPackage.Prometheus(_installer, cache);
        _etcd = UnpackedPackage.Etcd(_installer, cache);
    }

    /// <summary>Installs and fetches what a command needs, if <c>./billing</c> started this program.</summary>
    public static async Task PrepareAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        if (Workspace.IsThere)
        {
            var workspace = Workspace.FromEnvironment();
            var setup = new CommandSetup(SystemPrograms.Current, workspace.State, workspace.Cache);
            foreach (var (name, value) in await setup.PrepareAsync(ServerNeeds.Of(parsed), cancellationToken))
            {
                Environment.SetEnvironmentVariable(name, value);
            }
        }
    }

    /// <summary>Installs and fetches what servers need.</summary>
    /// <returns>The environment variables by which a stack finds it.</returns>
    public async Task<Dictionary<string, string?>> PrepareAsync(
        ServerNeeds servers, CancellationToken cancellationToken)
    {
        var postgres = servers.Postgres ? FindPostgres() : null;
        await InstallAsync(servers, servers.Postgres && postgres is null, cancellationToken);
        var variables = new Dictionary<string, string?>();
        if (servers.Postgres)
        {
            variables[PostgresPrograms.FolderVariable] = postgres ?? FindPostgres();
        }
        if (servers.Prometheus)
        {
            variables[LocalPrometheus.FolderVariable] = await _prometheus.EnsureAsync(cancellationToken);
        }
        if (servers.Failover)
        {
            variables[FailoverPrograms.EtcdVariable] = await _etcd.EnsureAsync(cancellationToken);
        }
        if (servers.KafkaFiles)
        {
            await _kafka.FetchAsync(cancellationToken);
            variables[KafkaPrograms.HomeVariable] = _kafka.Home;
            if (servers.Kafka)
            {
                await _kafka.PrepareAsync(cancellationToken);
            }
        }
        return variables;
    }

    private string? FindPostgres() =>
        PostgresPrograms.TryFindFolder(_installer.Machine.Variable, _installer.Machine.Root);

    private async Task InstallAsync(ServerNeeds servers, bool lacksPostgres, CancellationToken cancellationToken)
    {
        var needs = new Needs(_installer);
        if (lacksPostgres)
        {
            needs.Add(
                $"PostgreSQL {PostgresPrograms.OldestVersion} or newer", "postgresql",
                "to store events; no system server is created");
        }
        if (servers.KafkaFiles && await _kafka.NeedAsync(needs, cancellationToken) && servers.Kafka)
        {
            await _kafka.NeedJavaAsync(needs, cancellationToken);
        }
        if (servers.Prometheus)
        {
            _prometheus.Need(needs);
        }
        if (servers.Failover)
        {
            needs.Program("patroni", "patroni", "to let a standby take over from a lost PostgreSQL server");
            _etcd.Need(needs);
        }
        await needs.SettleAsync(servers.Command, cancellationToken);
    }

    /// <summary>The servers that a command line needs.</summary>
    /// <param name="Kafka">Whether it starts brokers.</param>
    /// <param name="KafkaFiles">Whether it uses Kafka's files.</param>
    /// <param name="Failover">Whether it starts several PostgreSQL servers.</param>
    internal sealed record ServerNeeds(
        string Command, bool Postgres, bool Kafka, bool KafkaFiles, bool Prometheus, bool Failover = false)
    {
        public static ServerNeeds Of(ParseResult parsed)
        {
            var path = new List<string>();
            for (var at = parsed.CommandResult; at?.Parent is CommandResult parent; at = parent)
            {
                path.Insert(0, at.Command.Name);
            }
            var command = path.FirstOrDefault("");
            // Running proxies need no servers, and neither do echoes.
            if (WithStack.Contains(command) && path is not ["compare", "rpc"] && !IsGiven(parsed, "--targets"))
            {
                var postgres = Value(parsed, "--postgres") is null or "auto";
                var kafka = Value(parsed, "--kafka") is null or "auto" && Value(parsed, "--transport") is not "direct";
                var failover = Value(parsed, "--postgres-replicas") is not (null or "1");
                return new ServerNeeds(command, postgres, kafka, kafka, IsGiven(parsed, "--monitoring"), failover);
            }
            var isTest = command == "test" && !IsGiven(parsed, "--fast");
            return new ServerNeeds(
                command, command is "bench" or "test", isTest, isTest || command is "package" or "rehearse", false);
        }

        private static bool IsGiven(ParseResult parsed, string option) =>
            parsed.GetResult(option) is OptionResult { Implicit: false };

        private static string? Value(ParseResult parsed, string option) =>
            parsed.GetResult(option) is OptionResult { Implicit: false, Tokens: [var token, ..] } ? token.Value : null;
    }
}
