using System.Collections.Frozen;
using System.Globalization;
using Billing.LocalStack.Credentials;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.Operator.Credentials;
using Billing.Operator.Store;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.LocalStack;

/// <summary>The whole system as processes on this machine: PostgreSQL, Kafka, proxies, payment and balance
/// backends.</summary>
public sealed class BillingStack : IAsyncDisposable
{
    // The stack's own servers run when its services start; on a slow machine they may still answer late.
    private static readonly string StartTimeout = ChildProcess.Patience.ToString();

    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(15);

    /// <summary>What an account of a stack may owe before a limit is set, by its currency.</summary>
    public static IReadOnlyDictionary<string, decimal> OpeningLimits { get; } =
        new Dictionary<string, decimal> { ["USD"] = 10_000, ["EUR"] = 10_000 };

    private readonly Lock _gate = new();
    private readonly StackOptions _options;
    private readonly FreePorts _ports;

    // Replaced as a whole, so that an enumeration sees one state while services are added and removed concurrently.
    private volatile IReadOnlyList<ServiceProcess> _services = [];

    private BillingStack(StackOptions options, StackFolder folder, FreePorts ports)
    {
        _options = options;
        _ports = ports;
        Folder = folder;
    }

    /// <summary>The folder of the data and logs.</summary>
    public StackFolder Folder { get; }

    /// <summary>The transport of commands: <c>kafka</c>, <c>embedded</c> or <c>direct</c>.</summary>
    public string Transport => IsDirect ? "direct" : BootstrapServers is null ? "embedded" : "kafka";

    /// <summary>The protocol between proxies and backends over <c>direct</c>; null with other transports.</summary>
    public string? Protocol => IsDirect ? _options.Protocol : null;

    /// <summary>Addresses of the brokers; null without Kafka.</summary>
    public string? BootstrapServers { get; private set; }

    /// <summary>Npgsql's connection string of the event store.</summary>
    public string ConnectionString { get; private set; } = "";

    /// <summary>The PostgreSQL server that the stack started, if it is a single one.</summary>
    public LocalPostgres? Postgres { get; private set; }

    /// <summary>The servers of the event store's databases after the first one.</summary>
    public IReadOnlyList<LocalPostgres> MoreDatabases { get; private set; } = [];

    /// <summary>The connection string of each database of the event store, by its name.</summary>
    public IReadOnlyDictionary<string, string> Databases =>
        FurtherDatabases.Names([ConnectionString, .. MoreDatabases.Select(d => d.ConnectionString)]);

    /// <summary>The PostgreSQL servers that the stack started, if there are several.</summary>
    public ReplicatedPostgres? Replicas { get; private set; }

    /// <summary>Whether the event store is the stack's own: nobody else has written to it.</summary>
    public bool OwnsEventStore => Postgres is not null || Replicas is not null;

    /// <summary>How long each sync of PostgreSQL to its disk takes, in milliseconds, in addition;
    /// null if that is not adjustable.</summary>
    public PreloadedLibrary? PostgresDisk { get; private set; }

    /// <summary>The Kafka cluster that the stack started; null if it uses none or another one.</summary>
    public LocalKafka? Kafka { get; private set; }

    /// <summary>The credentials of the proxies and their callers; null without authentication.</summary>
    public StackCredentials? Credentials { get; private init; }

    /// <summary>The services, proxies first.</summary>
    public IReadOnlyList<ServiceProcess> Services => _services;

    /// <summary>Addresses of the proxies.</summary>
    public IReadOnlyList<string> ProxyAddresses => [.. _services.Where(s => s.AcceptsCalls).Select(s => s.Address)];

    /// <summary>REST addresses of the proxies.</summary>
    public IReadOnlyList<string> RestAddresses => [.. _services.Select(s => s.RestAddress).OfType<string>()];

    /// <summary>Addresses on which the proxies serve operators; empty if the proxies have no separate
    /// address for that.</summary>
    public IReadOnlyList<string> AdminAddresses => [.. _services.Select(s => s.AdminAddress).OfType<string>()];

    /// <summary>Addresses (<c>host:port</c>) on which the backends listen for commands over <c>direct</c>; empty
    /// with other transports. Fixed when the stack starts: every proxy must know the same backends, including
    /// those that are down.</summary>
    public IReadOnlyList<string> BackendAddresses { get; private set; } = [];

    /// <summary>Every process of the stack.</summary>
    public IEnumerable<ChildProcess> Processes =>
        _services.Select(s => s.Process)
            .Concat(Kafka?.Processes ?? [])
            .Concat(Postgres?.Process is { } postgres ? [postgres] : [])
            .Concat(MoreDatabases.Select(database => database.Process).OfType<ChildProcess>())
            .Concat(Replicas?.Processes ?? []);

    /// <summary>The services of one role.</summary>
    public IEnumerable<ServiceProcess> Of(ServiceRole role) => _services.Where(s => s.Role == role);

    /// <summary>Starts everything and returns when every service is ready.</summary>
    /// <exception cref="StackException">Something could not be started; nothing is left running.</exception>
    public static async Task<BillingStack> StartAsync(
        StackOptions options, IProgress<string> progress, CancellationToken cancellationToken)
    {
        var folder = StackFolder.Create(keep: options.Detached);
        var stack = new BillingStack(options, folder, new FreePorts())
        {
            Credentials = options.Secured
                ? StackCredentials.CreateIn(
                    options.CredentialsFolder ?? Path.Combine(folder.FullName, "credentials"), options.Proxies,
                    TimeProvider.System)
                : null,
        };
        try
        {
            // First, so that a port that is in use fails the start before anything was started.
            stack._ports.Take(options.FixedPorts);
            if (options.MayLosePower)
            {
                await folder.AddDiskAsync(cancellationToken);
            }
            await Task.WhenAll(
                stack.StartPostgresAsync(progress, cancellationToken),
                stack.StartKafkaAsync(progress, cancellationToken));
            await stack.StartServicesAsync(progress, cancellationToken);
            if (folder.Disk is { } disk)
            {
                // New clusters are written without syncing.
                await disk.SyncAsync(cancellationToken);
            }
            return stack;
        }
        catch
        {
            await stack.AbandonAsync();
            throw;
        }
    }

    /// <summary>Starts one more service, or restarts one that has ended on its previous port, and waits
    /// until it is ready.</summary>
    /// <param name="number">Its number within the role, from 1.</param>
    /// <param name="cancellationToken">Cancels the wait; the service keeps running.</param>
    /// <param name="settings">Settings of this service only, keyed by environment variable;
    /// they override all others.</param>
    /// <param name="programs">The folder of the programs of another release; null for those of the stack.</param>
    /// <exception cref="StackException">It ended, or was not ready in time.</exception>
    public async Task<ServiceProcess> AddAsync(
        ServiceRole role, int number, CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? settings = null, string? programs = null)
    {
        var service = Launch(role, number, settings, programs);
        try
        {
            await service.WaitUntilReadyAsync(cancellationToken);
            return service;
        }
        catch (StackException)
        {
            service.Process.Kill();
            throw;
        }
    }

    /// <summary>Takes the power from the disks of PostgreSQL and of all brokers at once, and ends them.</summary>
    public async Task LosePowerAsync()
    {
        Folder.Disk!.LosePower();
        List<ChildProcess> servers = [.. Kafka!.Processes, Postgres!.Process!];
        servers.ForEach(server => server.KillAll());
        await Task.WhenAll(servers.Select(server => server.WaitForExitAsync(CancellationToken.None)));
    }

    /// <summary>Starts PostgreSQL and the brokers with what was on their disks when they lost their power.</summary>
    public async Task RestorePowerAsync(CancellationToken cancellationToken)
    {
        await Folder.Disk!.RestorePowerAsync(cancellationToken);
        await Task.WhenAll(
            [
                Postgres!.StartAsync(cancellationToken), .. Enumerable.Range(1, _options.Brokers)
                    .Select(number => Kafka!.StartBrokerAsync(number, cancellationToken)),
            ]);
    }

    /// <summary>Stops a service gracefully and removes it from <see cref="Services"/>.</summary>
    public async Task RemoveAsync(ServiceProcess service)
    {
        await service.Process.StopAsync(StopBound);
        lock (_gate)
        {
            _services = [.. _services.Where(s => s != service)];
        }
        await service.Process.DisposeAsync();
    }

    /// <summary>Stops everything, services first, and deletes the data, unless the stack is detached.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_options.Detached)
        {
            // Proxies first, so that the calls they have accepted are still answered.
            await StopAllAsync(s => s.AcceptsCalls);
            await StopAllAsync(s => !s.AcceptsCalls);
        }
        await DisposeProcessesAsync();
    }

    private async Task AbandonAsync()
    {
        foreach (var process in Processes)
        {
            process.Kill();
        }
        await DisposeProcessesAsync();
        if (_options.Detached)
        {
            await StackFolder.Adopt(Folder.FullName).DisposeAsync();
        }
    }

    private async Task DisposeProcessesAsync()
    {
        foreach (var service in _services)
        {
            await service.Process.DisposeAsync();
        }
        await Task.WhenAll(
            Kafka?.DisposeAsync().AsTask() ?? Task.CompletedTask,
            Postgres?.DisposeAsync().AsTask() ?? Task.CompletedTask,
            Replicas?.DisposeAsync().AsTask() ?? Task.CompletedTask,
            Task.WhenAll(MoreDatabases.Select(d => d.DisposeAsync().AsTask())));
        await Folder.DisposeAsync();
        _ports.Dispose();
    }

    private Task<bool[]> StopAllAsync(Func<ServiceProcess, bool> which) =>
        Task.WhenAll(_services.Where(which).Select(s => s.Process.StopAsync(StopBound)));

    private async Task StartPostgresAsync(IProgress<string> progress, CancellationToken cancellationToken)
    {
        ConnectionString = _options.Postgres;
        if (_options.Postgres != "auto")
        {
            return;
        }
        if (_options.PostgresReplicas > 1)
        {
            Replicas = await ReplicatedPostgres.StartNewAsync(
                Folder, _ports, _options.PostgresReplicas, _options.Detached, progress, Credentials?.Postgres,
                _options.BetweenDatabases, cancellationToken);
            ConnectionString = Replicas.ConnectionString;
            return;
        }
        PostgresDisk = _options.MayBeSlow
            ? await PreloadedLibrary.CompileAsync(Folder, "slow_disk.c", "SLOW_DISK", cancellationToken)
            : null;
        Postgres = await LocalPostgres.StartNewAsync(
            Folder, _ports, _options.Detached, progress, Credentials?.Postgres,
            environment: PostgresDisk?.Settings, cancellationToken: cancellationToken);
        ConnectionString = Postgres.ConnectionString;
        MoreDatabases = await FurtherDatabases.StartAsync(
            ConnectionString, _options.Databases, _options.Detached, Folder, _ports,
            progress, Credentials?.Postgres, cancellationToken);
    }

    private async Task StartKafkaAsync(IProgress<string> progress, CancellationToken cancellationToken)
    {
        if (IsDirect)
        {
            return;
        }
        switch (_options.Kafka)
        {
            case "embedded":
                break;
            case "auto" when KafkaPrograms.FindHome() is null:
                progress.Report("Kafka is not installed: using the embedded transport");
                break;
            case "auto":
                Kafka = await LocalKafka.StartNewAsync(
                    Folder, _ports, _options.Brokers, _options.Detached, progress,
                    _options.BrokerRelayPorts, Credentials?.Brokers, _options.BrokerJavaOptions,
                    _options.BetweenBrokers, _options.MayBeSlow, cancellationToken);
                BootstrapServers = Kafka.BootstrapServers;
                if (Credentials is not null)
                {
                    await AllowServicesAsync(BootstrapServers);
                }
                break;
            default:
                BootstrapServers = _options.Kafka;
                break;
        }
    }

    // The services themselves may only create their reply topics.
    private async Task AllowServicesAsync(string brokers)
    {
        var options = new KafkaOptions { BootstrapServers = brokers };
        options.Partitions = Partitions > 0 ? Partitions : options.Partitions;
        await new KafkaTopics(Options.Create(options), TimeProvider.System, NullLogger<KafkaTopics>.Instance)
            .EnsureSharedAsync();
        using var list = new StreamReader(typeof(BillingStack).Assembly.GetManifestResourceStream("access.txt")!);
        var proxies = Enumerable.Range(1, _options.Proxies).Select(DeploymentCredentials.ProxyName).ToList();
        await KafkaAccess.AllowAsync(options, KafkaAccess.Parse((await list.ReadToEndAsync()).Split('\n'), proxies));
    }

    private async Task StartServicesAsync(IProgress<string> progress, CancellationToken cancellationToken)
    {
        progress.Report("Starting the services");
        if (_options.Webhook is not null && Transport != "kafka")
        {
            throw new StackException(
                $"Events are sent from Kafka's topic of events, which the transport {Transport} does not have.");
        }
        if (Transport == "embedded")
        {
            Launch(ServiceRole.Embedded, 1);
        }
        else if (IsDirect)
        {
            BackendAddresses =
            [
                .. Enumerable.Range(0, _options.PaymentBackends).Select(_ => $"127.0.0.1:{_ports.Take()}"),
            ];
            LaunchAll(ServiceRole.DirectBackend, _options.PaymentBackends);
            LaunchAll(ServiceRole.Proxy, _options.Proxies);
        }
        else
        {
            LaunchAll(ServiceRole.PaymentBackend, _options.PaymentBackends);
            LaunchAll(ServiceRole.BalanceBackend, _options.BalanceBackends);
            LaunchAll(ServiceRole.Proxy, _options.Proxies);
            LaunchAll(ServiceRole.Webhooks, _options.Webhook is null ? 0 : 1);
        }
        await Task.WhenAll(_services.Select(s => s.WaitUntilReadyAsync(cancellationToken)));
    }

    private void LaunchAll(ServiceRole role, int count) =>
        Enumerable.Range(1, count).ToList().ForEach(number => Launch(role, number));

    private ServiceProcess Launch(
        ServiceRole role, int number, IReadOnlyDictionary<string, string>? own = null, string? programs = null)
    {
        var isFront = ServiceProcess.RoleAcceptsCalls(role);
        var previous = Of(role).FirstOrDefault(s => s.Number == number);
        var port = previous is not null ? new Uri(previous.Address).Port
            : isFront && _options.Port != 0 ? _options.Port + number - 1 : _ports.Take();
        var settings = CommonSettings(role, number).Concat(isFront ? FrontSettings(number, previous) : [])
            .Concat(role is ServiceRole.Proxy or ServiceRole.Webhooks ? [] : BackendSettings(role, number))
            .Concat(role == ServiceRole.Webhooks ? _options.Webhook?.Settings(ConnectionString) ?? [] : [])
            .Where(setting => setting.Value is not null).ToDictionary(StringComparer.Ordinal);
        var none = FrozenDictionary<string, string>.Empty;
        foreach (var (name, value) in _options.Settings.Concat(_options.SettingsOf?.Invoke(this, role, number) ?? none)
            .Concat(own ?? none))
        {
            settings[name] = value;
        }
        var service = ServiceProcess.Start(
            role, IsDirect, number, port, Folder, settings, _options.Detached, Credentials, programs,
            _options.GroupOf?.Invoke(role, number));
        lock (_gate)
        {
            _services =
            [
                .. _services.Where(s => s.Role != role || s.Number != number).Append(service).OrderBy(s => s.Role)
                    .ThenBy(s => s.Number),
            ];
        }
        return service;
    }

    private int Partitions =>
        _options.Partitions > 0 || Kafka is null ? _options.Partitions : _options.FewestPartitions;
    private bool IsDirect => _options.Transport == "direct";

    // Settings without a value are those that a service keeps its own default of.
    private Dictionary<string, string?> CommonSettings(ServiceRole role, int number)
    {
        var user = Kafka is null || Credentials is null ? null : ServiceProcess.UserOf(role, number);
        return new()
        {
            ["Billing__Kafka__BootstrapServers"] = user is null ? BootstrapServers : Kafka!.SecuredServers,
            ["Billing__SecretsFolder"] = user is null ? null : Credentials!.SecretsOf(user),
            ["Billing__Kafka__ProxyName"] = role == ServiceRole.Proxy ? user : null,
            // The brokers of the stack allow shorter session timeouts than Kafka's defaults do. The timeout is longer
            // than the fail-over of a broker, so that a group whose coordinator dies need not rebalance.
            ["Billing__Kafka__SessionTimeout"] = Kafka is null ? null : "00:00:03.500",
            ["Billing__Kafka__HeartbeatInterval"] = Kafka is null ? null : "00:00:00.500",
            ["Billing__Kafka__StartTimeout"] = Kafka is null ? null : StartTimeout,
            ["Billing__Kafka__Partitions"] = Partitions > 0 ? Partitions.ToString() : null,
            ["Billing__Direct__Protocol"] = Protocol,
            ["Billing__Direct__Backends"] =
                IsDirect && role == ServiceRole.Proxy ? string.Join(',', BackendAddresses) : null,
        };
    }

    private Dictionary<string, string?> FrontSettings(int number, ServiceProcess? previous)
    {
        string Address(int port) => $"{(Credentials is null ? "http" : "https")}://127.0.0.1:{port}";
        return new((Credentials?.ProxySettings ?? FrozenDictionary<string, string>.Empty)
            .Select(setting => KeyValuePair.Create(setting.Key, (string?)setting.Value)))
        {
            [ServiceProcess.RestUrl] = previous?.RestAddress
                ?? Address(_options.RestPort == 0 ? _ports.Take() : _options.RestPort + number - 1),
            [ServiceProcess.AdminUrl] = Credentials is null ? null : previous?.AdminAddress ?? Address(_ports.Take()),
        };
    }

    private Dictionary<string, string?> BackendSettings(ServiceRole role, int number)
    {
        if (role == ServiceRole.DirectBackend && number > BackendAddresses.Count)
        {
            throw new StackException(
                $"The proxies distribute the accounts over {BackendAddresses.Count} backends; "
                + $"there is no backend {number}.");
        }
        var isEmbedded = role == ServiceRole.Embedded;
        var limits = OpeningLimits.Select(limit => KeyValuePair.Create(
            "Billing__Backend__OpeningLimits__" + limit.Key,
            (string?)limit.Value.ToString(CultureInfo.InvariantCulture)));
        return new(StoreServices.Settings(Databases).Concat(limits))
        {
            ["Billing__EventStore__StartTimeout"] = OwnsEventStore ? StartTimeout : null,
            ["Billing__Jitter__Enabled"] = _options.Jitter ? "true" : "false",
            ["Billing__Direct__Listen"] = role == ServiceRole.DirectBackend ? BackendAddresses[number - 1] : null,
            ["Billing__Embedded__PaymentBackends"] = isEmbedded ? _options.PaymentBackends.ToString() : null,
            ["Billing__Embedded__BalanceBackends"] = isEmbedded ? _options.BalanceBackends.ToString() : null,
            ["Billing__Backend__Role"] = role switch
            {
                ServiceRole.PaymentBackend => "Payments",
                ServiceRole.BalanceBackend => "Balances",
                _ => null,
            },
        };
    }
}
